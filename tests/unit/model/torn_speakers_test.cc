#include "model/torn_speakers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ncclog {
namespace {

SpeakerLog log_of(Speaker speaker, uint64_t lines, bool torn) {
  SpeakerLog log;
  log.speaker = std::move(speaker);
  log.lines = lines;
  log.torn = torn;
  return log;
}

Speaker rank(int number) {
  Speaker speaker;
  speaker.rank = number;
  return speaker;
}

Speaker process(std::string host, int64_t pid) { return {.host = std::move(host), .pid = pid}; }

std::vector<std::string> names(const std::vector<SpeakerLog>& logs) {
  std::vector<std::string> result;
  for (const SpeakerLog& log : logs) {
    const Speaker& speaker = log.speaker;
    result.push_back(speaker.rank >= 0 ? "rank " + std::to_string(speaker.rank)
                                       : speaker.host + ":" + std::to_string(speaker.pid));
  }
  return result;
}

struct Row {
  std::string name;
  std::vector<SpeakerLog> logs;
  std::vector<std::string> kept;
};

TEST(TornSpeakers, NamesThatOnlyATornLineGivesAreForgotten) {
  const std::vector<Row> rows = {
      {"a host that took bytes in",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("gnode-", 7), 1, true)},
       {"gpu-node-1:7"}},
      {"a host behind what was cut off before it",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("gpugpu-node-1", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"a host that begins anew inside its name",
       {log_of(process("gpu-node-1", 7), 40, false), log_of(process("gpu-node-1gpu", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"the end of a host before its beginning",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("pu-node-1gp", 8), 1, false)},
       {"gpu-node-1:7"}},
      {"what is left of a host where others are torn",
       {log_of(process("gpu-node-1", 7), 40, true), log_of(process("g1", 7), 1, false)},
       {"gpu-node-1:7"}},
      {"containers share pids",
       {log_of(process("gpu-a", 7), 40, true), log_of(process("gpu-b", 7), 40, true)},
       {"gpu-a:7", "gpu-b:7"}},
      {"nothing is torn",
       {log_of(process("gpu-a", 7), 40, false), log_of(process("gpu-b", 7), 1, false)},
       {"gpu-a:7", "gpu-b:7"}},
      {"a frame's number is no rank",
       {log_of(process("gpu-a", 7), 40, false), log_of(rank(6), 1, false)},
       {"gpu-a:7"}},
      {"a launcher's task",
       {log_of(process("gpu-a", 7), 40, false), log_of(rank(6), 30, false)},
       {"gpu-a:7", "rank 6"}},
      {"a few lines are all there is",
       {log_of(rank(0), 1, false), log_of(rank(1), 1, false)},
       {"rank 0", "rank 1"}},
  };
  for (const Row& row : rows) {
    std::vector<SpeakerLog> logs = row.logs;
    join_torn_speakers(logs);
    EXPECT_EQ(names(logs), row.kept) << row.name;
  }
}

CommSegment segment(uint64_t comm_id, uint64_t parent, uint64_t started) {
  CommSegment result;
  result.comm_id = comm_id;
  result.parent = parent;
  result.started.line = started;
  return result;
}

TEST(TornSpeakers, CommunicatorsWhoseBeginningIsLostAreForgotten) {
  for (const bool torn : {false, true}) {
    std::vector<SpeakerLog> logs = {log_of(process("gpu-a", 7), 40, torn)};
    logs[0].comms.all = {segment(0xc0, 0, 0), segment(0, 0, 3), segment(0, 0xa, 4),
                         segment(0, 0, 0)};
    drop_unplaced_segments(logs);
    EXPECT_EQ(logs[0].comms.all.size(), torn ? 2u : 4u);
  }
}

}  // namespace
}  // namespace ncclog
