#include "model/shard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/read_log.h"

namespace ncclog {
namespace {

/// As torn lines invent them: ever new processes, in no order, some of them again.
std::vector<std::string> lines_of_many_processes() {
  const uint64_t count = Shard::kMaxSpeakers + 3000;
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < count + 2000; ++i) {
    const std::string host = "n" + std::to_string(i * 7919 % count + 100'000);
    lines.push_back(host + ":1:1 [0] NCCL INFO Using network Socket");
  }
  return lines;
}

Shard read(const std::vector<std::string>& lines, size_t begin, size_t end) {
  const LineMatcher none;
  LogReader reader(0, 0, none);
  for (size_t i = begin; i < end; ++i) reader.add({lines[i], i + 1, 0, false});
  return reader.finish();
}

std::vector<std::pair<std::string, uint64_t>> kept(const Shard& shard) {
  std::vector<std::pair<std::string, uint64_t>> logs;
  for (const auto& [speaker, log] : shard.speakers()) logs.emplace_back(speaker.host, log.lines);
  return logs;
}

TEST(Shard, KeepsTheSameProcessesAndCountsTheSameLossesWhereverItIsCut) {
  const std::vector<std::string> lines = lines_of_many_processes();
  const Shard whole = read(lines, 0, lines.size());
  EXPECT_EQ(whole.speakers().size(), Shard::kMaxSpeakers);
  uint64_t kept_lines = 0;
  for (const auto& [host, count] : kept(whole)) kept_lines += count;
  EXPECT_EQ(whole.losses().count(Loss::ProcessesDropped), lines.size() - kept_lines);
  for (const size_t cut : {size_t{1}, size_t{30'000}, size_t{67'000}, lines.size() - 1}) {
    Shard parts = read(lines, 0, cut);
    parts.merge(read(lines, cut, lines.size()));
    EXPECT_EQ(parts.losses(), whole.losses()) << "cut at " << cut;
    EXPECT_EQ(kept(parts), kept(whole)) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace ncclog
