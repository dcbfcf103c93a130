// Which message is in question in short logs, and who may have left it out.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "replay/plan/build_plan.h"
#include "support/call_log.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::clean_run_completes;
using testing::inits;
using testing::plan_of_text;
using testing::plan_words;

constexpr uint64_t kWorld = 0x77;

/// What PyTorch makes of all_to_all.
void exchange(CallLog& log, int rank, int nranks) {
  for (int peer = 0; peer < nranks; ++peer) {
    log.call(rank, kWorld, "Send", 8, peer).call(rank, kWorld, "Recv", 8, peer);
  }
}

/// Rank 2 leaves out the last of four exchanges, which follow an AllReduce each.
CallLog exchange_left_out() {
  CallLog log = inits(3, kWorld);
  for (int i = 0; i < 4; ++i) {
    for (int rank = 0; rank < 3; ++rank) {
      log.call(rank, kWorld);
      if (i < 3 || rank != 2) exchange(log, rank, 3);
    }
  }
  log.call(2, kWorld);
  return log.timeout(0, 8, "ALLTOALL_BASE").timeout(1, 8, "ALLTOALL_BASE").timeout(2, 8);
}

TEST(FindMessageDefect, WhoLeftAnExchangeOutDidNotComeTooLateToTheCallBeforeIt) {
  const Suspicion suspicion{"send-recv-unmatched", "Messages do not match", "0x77", {2}};
  const ReplayPlan plan = plan_of_text(exchange_left_out().text(), {}, {suspicion});
  EXPECT_EQ(plan.hypothesis.kind, DefectKind::Message);
  EXPECT_EQ(plan.hypothesis.diverged, std::vector{2});
  ASSERT_TRUE(plan.hypothesis.front.has_value());
  EXPECT_EQ(plan.hypothesis.front->index, 3u);
  EXPECT_EQ(plan.hypothesis.front->missing, std::vector{2});
  EXPECT_TRUE(
      testing::program_words(plan.ranks[2])
          .ends_with("AllReduce#3 +Send(0)#3 +Recv(0)#3 +Recv(1)#3 +Send(1)#3 -AllReduce#4"));
  EXPECT_TRUE(clean_run_completes(plan));
}

TEST(FindMessageDefect, ARankThatWaitedInAMessageOfBothEndsLeftNoneOut) {
  CallLog log = inits(2, kWorld);
  for (int i = 0; i < 3; ++i) log.call(0, kWorld, "Send", 8, 1).call(1, kWorld, "Recv", 8, 0);
  log.call(0, kWorld, "Send", 8, 1).timeout(0, 3, "SEND").timeout(1, 3, "RECV");
  EXPECT_EQ(plan_of_text(log.text()).hypothesis.kind, DefectKind::None);
}

TEST(FindMessageDefect, WhereNobodyIsToldBothEndsMayHaveDeparted) {
  CallLog log = inits(2, kWorld);
  for (int i = 0; i < 3; ++i) log.call(0, kWorld, "Send", 8, 1).call(1, kWorld, "Recv", 8, 0);
  log.call(0, kWorld, "Send", 8, 1).timeout(0, 4, "SEND");
  log.line(
      "n3:51:51 [1] NCCL INFO ncclCommInitRank comm 0x9900 rank 0 nranks 2 cudaDev 1 nvmlDev 1 "
      "busId 2000 commId 0x99 - Init START");
  const Suspicion suspicion{"send-recv-unmatched", "Messages do not match", "0x77", {}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {}, {suspicion})),
            "0: Send(1)#0 Send(1)#1 Send(1)#2 Send(1)#3\n"
            "1: Recv(0)#0 Recv(0)#1 Recv(0)#2 +Recv(0)#3\n"
            "message by 0,1 at 0#3, entered 0, missing 1\n");
}

/// Ranks 1 and 2 wait for each other's message; rank 1 may wait for rank 0, which left no log.
CallLog circle_with_a_silent_rank() {
  CallLog log;
  for (int rank = 1; rank < 3; ++rank) log.init(rank, 3, kWorld);
  for (int i = 0; i < 2; ++i) {
    log.call(1, kWorld, "Recv", 8, 0);
    log.call(1, kWorld, "Send", 8, 2).call(2, kWorld, "Recv", 8, 1);
    log.call(2, kWorld, "Send", 8, 1).call(1, kWorld, "Recv", 8, 2);
  }
  log.call(1, kWorld, "Recv", 8, 0).call(2, kWorld, "Recv", 8, 1).call(1, kWorld, "Recv", 8, 2);
  return log.timeout(1, 9, "RECV").timeout(2, 9, "RECV");
}

TEST(FindMessageDefect, NobodyIsAccusedInACircleWhoseRankMayWaitForOneWithoutLog) {
  const Suspicion symptom{"watchdog-timeout-unexplained", "Timed out", "", {}};
  const ReplayPlan plan = plan_of_text(circle_with_a_silent_rank().text(), {}, {symptom});
  EXPECT_EQ(plan.hypothesis.kind, DefectKind::None);
  EXPECT_EQ(plan.losses.back(),
            "The job stopped, and these logs do not tell which call a rank left out or made "
            "otherwise: the plan tests nothing.");
}

TEST(FindMessageDefect, APlanSaysThatItTestsNoMessagesOfUnlikeSizes) {
  CallLog log = inits(2, kWorld);
  log.call(0, kWorld).call(1, kWorld);
  log.call(0, kWorld, "Send", 4, 1).call(1, kWorld, "Recv", 8, 0).timeout(1, 2, "RECV");
  const Suspicion suspicion{"send-recv-unmatched", "Messages do not match", "0x77", {}};
  EXPECT_EQ(plan_of_text(log.text(), {}, {suspicion}).losses.back(),
            "A Send and its Recv differ in size, and no plan of such a message is made: the plan "
            "tests nothing.");
}

TEST(FindMessageDefect, AStallOfMessagesIsNotOneOfTheCollectiveBeforeThem) {
  CallLog log = inits(2, kWorld);
  log.call(0, kWorld).call(1, kWorld);
  log.call(0, kWorld, "Send", 8, 1).call(1, kWorld, "Recv", 8, 0);
  log.timeout(0, 2, "SEND").timeout(1, 2, "RECV");
  const Suspicion suspicion{"collective-all-entered-stall", "All entered", "0x77", {}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {}, {suspicion})),
            "0: AllReduce#0 Send(1)#0\n"
            "1: AllReduce#0 Recv(0)#0\n"
            "stall by \n");
}

/// Each sends twice before it receives, and nothing tells of groups.
void cross(CallLog& log, int rank, int peer) {
  for (const char* op : {"Send", "Send", "Recv", "Recv"}) log.call(rank, kWorld, op, 8, peer);
}

TEST(FindMessageDefect, WhoSendsBeforeTheOtherReceivesIsReplayedWithBuffers) {
  CallLog log = inits(2, kWorld);
  for (int rank = 0; rank < 2; ++rank) {
    cross(log, rank, 1 - rank);
    log.call(rank, kWorld);
  }
  const ReplayPlan plan = plan_of_text(log.text());
  EXPECT_EQ(plan_words(plan),
            "0: Send(1)#0 Send(1)#1 Recv(1)#0 Recv(1)#1 AllReduce#0\n"
            "1: Send(0)#0 Send(0)#1 Recv(0)#0 Recv(0)#1 AllReduce#0\n");
  EXPECT_EQ(plan.losses.back(),
            "On their streams ranks send to each other before either of them receives: the clean "
            "run ends only while NCCL has room for these messages.");
}

TEST(FindMessageDefect, NothingIsTestedWhereTheCleanRunEndsBeforeTheMessage) {
  CallLog log = inits(2, kWorld);
  log.call(0, kWorld).call(1, kWorld);
  cross(log, 0, 0);  // NCCL has no buffer for what a rank sends itself.
  log.call(0, kWorld, "Recv", 8, 1).timeout(0, 6, "RECV");
  const Suspicion suspicion{"send-recv-unmatched", "Messages do not match", "0x77", {1}};
  const ReplayPlan plan = plan_of_text(log.text(), {}, {suspicion});
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0\n1: AllReduce#0\n");
  EXPECT_EQ(plan.losses.back(),
            "The clean run ends before the call in question: from these logs it cannot be told "
            "what all ranks would have called, so the plan tests nothing.");
}

TEST(FindMessageDefect, APlanIsRefusedWhereNothingIsLeftBeforeTheMessage) {
  CallLog log = inits(2, kWorld);
  for (int rank = 0; rank < 2; ++rank) cross(log, rank, rank);
  log.call(0, kWorld, "Recv", 8, 1).timeout(0, 5, "RECV");
  const Suspicion suspicion{"send-recv-unmatched", "Messages do not match", "0x77", {1}};
  try {
    plan_of_text(log.text(), {}, {suspicion});
    FAIL() << "a plan was made";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "the clean run ends before the call in question, and all ranks made no call of it");
  }
}

}  // namespace
}  // namespace ncclog
