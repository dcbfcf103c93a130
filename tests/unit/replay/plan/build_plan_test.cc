#include "replay/plan/build_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "support/call_log.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::plan_of_text;
using testing::plan_words;

/// Four ranks in a world and in two groups of two; each calls in both.
CallLog two_groups() {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 4, 0x77);
  for (int rank = 0; rank < 4; ++rank) {
    log.init(rank, 2, rank < 2 ? 0x81u : 0x82u, rank % 2);
  }
  for (int rank = 0; rank < 4; ++rank) {
    log.call(rank, rank < 2 ? 0x81u : 0x82u).call(rank, 0x77, "AllGather");
  }
  return log;
}

std::string error_of(const std::string& text, const PlanOptions& options,
                     const std::vector<Suspicion>& suspicions = {}) {
  try {
    plan_of_text(text, options, suspicions);
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

TEST(BuildPlan, KeepsTheOrderOverAllCommunicators) {
  EXPECT_EQ(plan_words(plan_of_text(two_groups().text())),
            "0: AllReduce@1#0 AllGather#0\n"
            "1: AllReduce@1#0 AllGather#0\n"
            "2: AllReduce@2#0 AllGather#0\n"
            "3: AllReduce@2#0 AllGather#0\n");
}

TEST(BuildPlan, NamesCommunicatorsRanksAndHosts) {
  const ReplayPlan plan = plan_of_text(two_groups().text());
  ASSERT_EQ(plan.communicators.size(), 3u);
  EXPECT_EQ(plan.communicators[0].id, "0x77");
  EXPECT_EQ(plan.communicators[2].id, "0x82");
  EXPECT_EQ(plan.communicators[2].ranks, (std::vector<int>{2, 3}));
  EXPECT_EQ(plan.communicators[2].recorded_nranks, 2);
  EXPECT_EQ(plan.communicators[2].parent, -1);
  EXPECT_EQ(plan.ranks[3].recorded_rank, 3);
  EXPECT_EQ(plan.ranks[3].host, "n3");
  EXPECT_EQ(host_group_count(plan), 1);
  EXPECT_EQ(plan.recorded_nranks, 4);
  EXPECT_FALSE(has_defect(plan));
}

TEST(BuildPlan, OnlyTheFailingCommunicatorIfThatIsWanted) {
  CallLog log = two_groups();
  log.call(0, 0x81).timeout(0, 2);
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.only_failing = true})),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 +AllReduce#1\n"
            "missing-call by 1 at 0#1, entered 0, missing 1\n");
}

/// Each of `ranks` calls in the world, then in its pair; rank 2 sends to rank 3 in the world.
void add_iteration(CallLog& log, const std::vector<int>& in_world) {
  for (const int rank : in_world) log.call(rank, 0x77, "AllGather");
  for (int rank = 0; rank < 4; ++rank) log.call(rank, rank < 2 ? 0x81u : 0x82u);
  log.call(2, 0x77, "Send", 8, 3).call(3, 0x77, "Recv", 8, 2);
}

TEST(BuildPlan, WhatWasLeftOutBesideAnotherCommunicatorKeepsItsPlace) {
  CallLog log = two_groups();
  add_iteration(log, {0, 1, 2, 3});
  add_iteration(log, {0, 1, 2, 3});
  add_iteration(log, {0, 1, 3});
  log.timeout(0, 4, "_ALLGATHER_BASE");
  const ReplayPlan plan = plan_of_text(log.text(), {.last = 1, .only_failing = true});
  EXPECT_EQ(plan_words(plan),
            "0: AllGather#2 AllGather#3\n"
            "1: AllGather#2 AllGather#3\n"
            "2: AllGather#2 +AllGather#3 Send(3)#2\n"
            "3: AllGather#2 AllGather#3 Recv(2)#2\n"
            "missing-call by 2 at 0#3, entered 0,1,3, missing 2\n");
}

TEST(BuildPlan, RefusesWhatIsNotThere) {
  EXPECT_EQ(error_of(two_groups().text(), {.only_failing = true}),
            "of no call is it known who left it out or made another one, so no communicator is the "
            "failing one | leave "
            "out --only failing");
  EXPECT_EQ(error_of(two_groups().text(), {.finding = "mismatch"}),
            "the analysis of these logs has no finding 'mismatch' | ncclog analyze lists the "
            "findings");
  EXPECT_EQ(error_of(two_groups().text(), {.finding = "mismatchd-collectives"},
                     {{"mismatched-collectives", "title", "", {}}}),
            "the analysis of these logs has no finding 'mismatchd-collectives' | did you mean "
            "'mismatched-collectives'?");
}

TEST(BuildPlan, TestsNoFindingThatIsAboutNoCall) {
  const Suspicion advice = {
      .id = "net-plugin-missing-info", .title = "t", .communicator = "", .is_testable = false};
  const Suspicion cause = {.id = "rank-behind", .title = "t", .communicator = ""};
  const std::string text = two_groups().text();
  EXPECT_EQ(error_of(text, {.finding = advice.id}, {advice}),
            "the finding 'net-plugin-missing-info' is about no call, so no replay can test it | no "
            "finding of these logs is about calls; leave out --finding to replay the last calls");
  EXPECT_EQ(error_of(text, {.finding = advice.id}, {cause, advice}),
            "the finding 'net-plugin-missing-info' is about no call, so no replay can test it | "
            "findings that a replay may test: rank-behind");
  EXPECT_EQ(choose_suspicion({advice, cause}, "").id, "rank-behind");
  EXPECT_EQ(choose_suspicion({advice}, "").id, "");
}

TEST(BuildPlan, MakesNoPlanWithoutTheFindingThatIsNamed) {
  const Suspicion cause = {.id = "p2p-disabled", .title = "t", .communicator = ""};
  EXPECT_EQ(error_of(two_groups().text(), {.finding = cause.id}, {cause}),
            "from these logs no call can be planned that stands still or differs because of "
            "'p2p-disabled' | "
            "leave out --finding to replay the last calls");
  EXPECT_EQ(plan_of_text(two_groups().text(), {}, {cause}).hypothesis.finding, "");
}

TEST(BuildPlan, SaysHowManyEarlierCallsAreLeftOut) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  for (int i = 0; i < 10; ++i) log.call(0, 0x77).call(1, 0x77);
  const ReplayPlan plan = plan_of_text(log.text(), {.last = 3});
  EXPECT_EQ(plan.ranks[0].left_out, 7u);
  EXPECT_EQ(plan.ranks[0].calls.front().index, 7u);
  EXPECT_EQ(plan.losses.front(), "Up to 7 earlier calls of each rank are left out (--last).");
}

TEST(BuildPlan, ARankWhoseCallsAreUnknownIsLeftOutAndRootsMove) {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 0x77);
  log.call(1, 0x77, "Broadcast", 8, 0).call(2, 0x77, "Broadcast", 8, 0);
  const ReplayPlan plan = plan_of_text(log.text());
  ASSERT_EQ(plan.ranks.size(), 2u);
  EXPECT_EQ(plan.ranks[0].recorded_rank, 1);
  EXPECT_EQ(plan.ranks[0].calls[0].root, 0);
  EXPECT_EQ(plan.losses.front(),
            "Communicator 0x77 is made without rank 0: the logs do not show what it called.");
}

TEST(BuildPlan, CudaGraphsAreALimitAndALineThatSpeaksOfThemIsNamed) {
  const auto said = [](const ReplayPlan& plan) {
    const auto limit =
        std::find_if(plan.limits.begin(), plan.limits.end(), [](const std::string& one) {
          return one.starts_with("A call that is captured in a CUDA graph is logged once");
        });
    return limit == plan.limits.end() ? "" : limit->substr(limit->find("later moment"));
  };
  const std::string setting =
      "n0:50:50 [0] NCCL INFO NCCL_GRAPH_REGISTER set by environment to 1.\n";
  EXPECT_EQ(said(plan_of_text(two_groups().text())), "later moment.");
  const std::string named = said(plan_of_text(setting + two_groups().text()));
  EXPECT_TRUE(named.ends_with(":1 speaks of such graphs.")) << named;
}

TEST(BuildPlan, ReductionsOfTheJobsOwnAreALimit) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  log.call(0, 0x77, "AllReduce", 8, 0, 7, 771).call(1, 0x77, "AllReduce", 8, 0, 7, 991);
  const ReplayPlan plan = plan_of_text(log.text());
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0\n1: AllReduce#0\n");
  EXPECT_EQ(plan.limits.back(),
            "The job's own reductions are replayed as sums, and their results are not compared.");
}

}  // namespace
}  // namespace ncclog
