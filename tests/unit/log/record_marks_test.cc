#include <gtest/gtest.h>

#include <string_view>

#include "log/event.h"

namespace ncclog {
namespace {

struct TextRow {
  std::string_view text;
  bool holds;
};

TEST(RecordMarks, ProcessOfAnotherRecordIsSeenAnywhere) {
  constexpr TextRow kRows[] = {
      {"Using [0]ethnode-b:52:52 [1] NCCL INFO", true},
      {"node-b:52:52 [1] NC", true},
      {"NET/Socket : Using [0]eth0:10.1.2.3<0> [1]eth1:10.1.3.3<0>", false},
      {"comm 0xa rank 0 at 04:05:06 [trainer]", false},
      {"node-b:52:52 [", false},
      {":52:52 [1]", false},
      {"", false},
  };
  for (const TextRow& row : kRows) EXPECT_EQ(holds_process(row.text), row.holds) << row.text;
}

TEST(RecordMarks, TaskTagIsSeenAnywhere) {
  constexpr TextRow kRows[] = {
      {"frame #3: c10d::Proc[rank1]:[E1120 21:25:35", true},
      {"Sock[rank12]:", true},
      {"[rank12]:", false},
      {"<worker 3> [rank12]:", false},
      {"via P2P/[default1]:CUMEM", true},
      {"Trees [0] 1/-1/-1->0->-1 [1]: [0]eth0:10.1.2.3<0>", false},
      {"x[rank]: x[rank1] x[rank1:", false},
      {"x[rank1", false},
  };
  for (const TextRow& row : kRows)
    EXPECT_EQ(find_task_tag(row.text) != row.text.npos, row.holds) << row.text;
}

TEST(RecordMarks, AnNcclMessageDoesNotBeginWithATask) {
  constexpr std::string_view kCut = "[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] Watchdog caught";
  EXPECT_EQ(find_task_tag(kCut, true), 0u);
  EXPECT_EQ(find_task_tag(kCut), kCut.npos);
  EXPECT_EQ(find_task_tag("[Service thread] Accept failed", true), kCut.npos);
}

struct HostRow {
  std::string_view host;
  std::string_view known;
  bool interrupted;
};

TEST(RecordMarks, HostWithBytesInsideIsNoOther) {
  constexpr HostRow kRows[] = {
      {"node-node-ba", "node-a", true}, {"noe-de-a", "node-a", true},
      {"no13de-a", "node-a", true},     {"worker-11", "worker-1", false},
      {"node-1-a", "node-a", false},    {"node-a", "node-a", false},
      {"node-ab", "node-a", false},     {"a", "", false},
  };
  for (const HostRow& row : kRows) {
    EXPECT_EQ(is_interrupted(row.host, row.known), row.interrupted) << row.host;
  }
}

}  // namespace
}  // namespace ncclog
