#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "replay/plan/plan_frame.h"

namespace ncclog {
namespace {

/// Three ranks, in communicator 0 all of them, in 1 the first two, in 2 the last two. Each word of
/// `programs` is a call: communicator, then 'c' or 's' or 'r' with a peer, then '.' and a stream,
/// '/' and a group.
ReplayPlan plan_of_programs(const std::vector<const char*>& programs) {
  ReplayPlan plan;
  plan.communicators = {{.ranks = {0, 1, 2}}, {.ranks = {0, 1}}, {.ranks = {1, 2}}};
  for (const char* program : programs) {
    PlannedRank& rank = plan.ranks.emplace_back();
    std::istringstream words(program);
    for (std::string word; words >> word;) {
      PlannedCall& call = rank.calls.emplace_back();
      call.communicator = word[0] - '0';
      call.op = word[1] == 'c' ? "AllReduce" : word[1] == 's' ? "Send" : "Recv";
      if (word[1] != 'c') call.root = word[2] - '0';
      if (const auto at = word.find('.'); at != word.npos) call.stream = word[at + 1] - '0';
      if (const auto at = word.find('/'); at != word.npos) call.group = word[at + 1] - '0';
    }
  }
  return plan;
}

/// "0:0 1:2": calls of the clean run that do not end, by rank.
std::string stuck_in(const ReplayPlan& plan, SendEnds sends) {
  const auto completed = completed_calls(plan, sends, Numbered::ByOrder);
  std::string text;
  for (size_t r = 0; r < completed.size(); ++r) {
    for (size_t c = 0; c < completed[r].size(); ++c) {
      const bool is_clean = plan.ranks[r].calls[c].made_in != MadeIn::Defect;
      if (is_clean && !completed[r][c]) text += fmt::format("{}:{} ", r, c);
    }
  }
  EXPECT_EQ(text.empty(), clean_run_ends(plan, sends, Numbered::ByOrder));
  return text;
}

struct DeadlockRow {
  const char* what;
  std::vector<const char*> programs;
  const char* stuck;           ///< With SendEnds::WithItsRecv.
  const char* buffered_stuck;  ///< With SendEnds::ByItself.
};

TEST(FindDeadlock, FindsCirclesAndNothingElse) {
  const DeadlockRow kRows[] = {
      {"nothing is called", {"", "", ""}, "", ""},
      {"one order", {"0c 1c", "0c 1c 2c", "0c 2c"}, "", ""},
      {"orders of communicators that differ",
       {"1c 0c", "0c 1c", "0c"},
       "0:0 0:1 1:0 1:1 2:0 ",
       "0:0 0:1 1:0 1:1 2:0 "},
      {"the same on two streams", {"1c.1 0c.0", "0c.0 1c.1", "0c"}, "", ""},
      {"the same in a group", {"1c/0 0c/0", "0c 1c", "0c"}, "", ""},
      {"a circle through three ranks",
       {"1c 0s2", "2c 1c", "0r0 2c"},
       "0:0 0:1 1:0 1:1 2:0 2:1 ",
       "0:0 0:1 1:0 1:1 2:0 2:1 "},
      {"both send first", {"1s1 1r1", "1s0 1r0", ""}, "0:0 0:1 1:0 1:1 ", ""},
      {"both receive first", {"1r1 1s1", "1r0 1s0", ""}, "0:0 0:1 1:0 1:1 ", "0:0 0:1 1:0 1:1 "},
      {"one of them sends first", {"1s1 1r1", "1r0 1s0", ""}, "", ""},
      {"an exchange in a group", {"1s1/0 1r1/0", "1r0/3 1s0/3", ""}, "", ""},
      {"a message to itself", {"0s0 0r0", "", ""}, "0:0 0:1 ", "0:0 0:1 "},
      {"a message to itself in a group", {"0s0/1 0r0/1", "", ""}, "", ""},
      {"what leads into a circle waits too",
       {"1r1 1s1", "1r0 1s0 2s1", "2r0"},
       "0:0 0:1 1:0 1:1 1:2 2:0 ",
       "0:0 0:1 1:0 1:1 1:2 2:0 "},
  };
  for (const DeadlockRow& row : kRows) {
    const ReplayPlan plan = plan_of_programs(row.programs);
    EXPECT_EQ(stuck_in(plan, SendEnds::WithItsRecv), row.stuck) << row.what;
    EXPECT_EQ(stuck_in(plan, SendEnds::ByItself), row.buffered_stuck) << row.what;
  }
}

TEST(FindDeadlock, LooksAtTheCleanRunOnly) {
  ReplayPlan plan = plan_of_programs({"1c 0c", "0c 1c 0c", "0c"});
  plan.ranks[1].calls[0].made_in = MadeIn::Defect;
  EXPECT_EQ(stuck_in(plan, SendEnds::WithItsRecv), "");
}

TEST(FindDeadlock, TakesManyCalls) {
  ReplayPlan plan = plan_of_programs({"", "", ""});
  for (PlannedRank& rank : plan.ranks) {
    PlannedCall call;
    call.communicator = 0;
    call.op = "AllReduce";
    rank.calls.assign(20000, call);
  }
  EXPECT_EQ(stuck_in(plan, SendEnds::WithItsRecv), "");
}

}  // namespace
}  // namespace ncclog
