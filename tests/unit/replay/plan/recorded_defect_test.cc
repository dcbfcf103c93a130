// What goes wrong in short logs, as the plans of them tell.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/derive/build_job.h"
#include "replay/plan/build_plan.h"
#include "support/call_log.h"
#include "support/empty_split.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::clean_run_completes;
using testing::inits;
using testing::plan_of_text;
using testing::plan_words;

void all_call(CallLog& log, int nranks, std::string_view op = "AllReduce", int64_t count = 512) {
  for (int rank = 0; rank < nranks; ++rank) log.call(rank, 0x77, op, count);
}

TEST(FindDefect, ARankThatCallsWhatFollowsLeftACallOut) {
  CallLog log = inits(3, 0x77);
  for (int i = 0; i < 2; ++i) {
    all_call(log, 3);
    all_call(log, 3, "AllGather");
  }
  log.call(0, 0x77).call(1, 0x77).call(2, 0x77, "AllGather").timeout(0, 5);
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.last = 1})),
            "0: AllGather#3 AllReduce#4\n"
            "1: AllGather#3 AllReduce#4\n"
            "2: AllGather#3 +AllReduce#4\n"
            "missing-call by 2 at 0#4, entered 0,1, missing 2\n");
}

TEST(FindDefect, NobodyMakesCallsBehindTheOneInQuestion) {
  CallLog log = inits(3, 0x77);
  for (int i = 0; i < 2; ++i) {
    all_call(log, 3);
    all_call(log, 3, "AllGather");
    all_call(log, 3, "ReduceScatter");
  }
  log.call(0, 0x77).call(1, 0x77).call(2, 0x77, "AllGather");
  log.call(2, 0x77, "ReduceScatter").call(2, 0x77).timeout(0, 5);
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.last = 1})),
            "0: ReduceScatter#5 AllReduce#6\n"
            "1: ReduceScatter#5 AllReduce#6\n"
            "2: ReduceScatter#5 +AllReduce#6\n"
            "missing-call by 2 at 0#6, entered 0,1, missing 2\n");
}

TEST(FindDefect, AnotherCountIsAnotherCall) {
  CallLog log = inits(3, 0x77);
  all_call(log, 3);
  log.call(0, 0x77).call(1, 0x77, "AllReduce", 256).call(2, 0x77).timeout(0, 2);
  EXPECT_EQ(plan_words(plan_of_text(log.text())),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 +AllReduce#1 -AllReduce#1\n"
            "2: AllReduce#0 AllReduce#1\n"
            "other-call by 1 at 0#1, entered 0,1,2, missing \n");
}

TEST(FindDefect, ARankThatMakesOneMoreCallIsHeldAgainstTheOthersNextOne) {
  CallLog log = inits(3, 0x77);
  all_call(log, 3);
  log.call(0, 0x77, "AllGather").call(1, 0x77, "AllGather");
  log.call(2, 0x77, "Broadcast").call(2, 0x77, "AllGather").timeout(0, 2);
  EXPECT_EQ(plan_words(plan_of_text(log.text())),
            "0: AllReduce#0 AllGather#1\n"
            "1: AllReduce#0 AllGather#1\n"
            "2: AllReduce#0 +AllGather#1 -Broadcast#1\n"
            "extra-call by 2 at 0#1, entered 0,1,2, missing \n");
}

TEST(FindDefect, WhomTheFindingBlamesDepartedWhereNoMajorityTells) {
  CallLog log = inits(2, 0x77);
  all_call(log, 2);
  log.call(0, 0x77, "AllReduce", 256).call(1, 0x77).timeout(0, 2);
  const Suspicion suspicion{"mismatched-collectives", "The ranks differ", "0x77", {0}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {}, {suspicion})),
            "0: AllReduce#0 +AllReduce#1 -AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "other-call by 0 at 0#1, entered 0,1, missing \n");
}

TEST(FindDefect, ARankThatDidNotComeMakesTheCallInTheCleanRun) {
  CallLog log = inits(3, 0x77);
  all_call(log, 3);
  log.call(0, 0x77).call(2, 0x77).timeout(0, 2);
  EXPECT_EQ(plan_words(plan_of_text(log.text())),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 +AllReduce#1\n"
            "2: AllReduce#0 AllReduce#1\n"
            "missing-call by 1 at 0#1, entered 0,2, missing 1\n");
}

TEST(FindDefect, RanksThatAreApartProveNothingWhereNothingStopped) {
  CallLog log = inits(2, 0x77);
  all_call(log, 2);
  log.call(0, 0x77);
  const ReplayPlan plan = plan_of_text(log.text());
  EXPECT_EQ(plan_words(plan), "0: AllReduce#0\n1: AllReduce#0\n");
  ASSERT_EQ(plan.losses.size(), 1u);
  EXPECT_EQ(plan.losses[0],
            "1 call is left out: not all ranks had made it alike when the logs end.");
}

TEST(FindDefect, AMessageThatNobodySendsIsSentWhereItsLikesWere) {
  CallLog log = inits(2, 0x77);
  for (int i = 0; i < 2; ++i) {
    all_call(log, 2);
    log.call(0, 0x77, "Send", 8, 1).call(1, 0x77, "Recv", 8, 0);
    all_call(log, 2, "AllGather");
  }
  all_call(log, 2);
  log.call(1, 0x77, "Recv", 8, 0);
  all_call(log, 2, "AllGather");
  log.timeout(1, 3, "RECV");
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.last = 2})),
            "0: Send(1)#0 Send(1)#1 AllReduce#4 +Send(1)#2 AllGather#5\n"
            "1: Recv(0)#0 Recv(0)#1 AllReduce#4 Recv(0)#2 AllGather#5\n"
            "message by 0,1 at 0#2, entered 1, missing 0\n");
}

/// Three stages of a pipeline; in each iteration data go down and back, then all reduce. Rank
/// `odd` leaves out its `op` with `peer` in the last iteration.
struct Pipeline {
  int iterations = 6;
  int odd = 1;
  std::string_view op = "Send";
  int peer = 2;
  std::vector<int> waiting = {};  ///< Ranks that do not come to the last AllReduce.
};

CallLog pipeline(const Pipeline& shape) {
  CallLog log = inits(3, 0x77);
  for (int i = 0; i < shape.iterations; ++i) {
    const bool is_last = i + 1 == shape.iterations;
    log.op_count(static_cast<uint64_t>(i));
    const auto message = [&](int rank, std::string_view op, int peer) {
      const bool is_left_out = is_last && rank == shape.odd && op == shape.op && peer == shape.peer;
      if (!is_left_out) log.call(rank, 0x77, op, 8, peer);
    };
    for (int rank = 0; rank < 3; ++rank) {
      const auto& waiting = shape.waiting;
      const bool waits =
          is_last && std::find(waiting.begin(), waiting.end(), rank) != waiting.end();
      if (rank > 0) message(rank, "Recv", rank - 1);
      if (rank < 2) message(rank, "Send", rank + 1);
      if (rank < 2) message(rank, "Recv", rank + 1);
      if (rank > 0) message(rank, "Send", rank - 1);
      if (!waits) log.call(rank, 0x77);
    }
  }
  return log;
}

TEST(FindDefect, AMessageThatWasAlwaysMadeThereIsMadeThere) {
  const CallLog log = pipeline({.waiting = {0, 2}}).timeout(2, 6, "RECV");
  const ReplayPlan plan = plan_of_text(log.text(), {.last = 1});
  EXPECT_EQ(plan_words(plan),
            "0: AllReduce#4 {Send(1)#5 Recv(1)#5}\n"
            "1: Send(2)#4 AllReduce#4 +Send(2)#5 {Recv(0)#5 Recv(2)#5 Send(0)#5} -AllReduce#5\n"
            "2: Recv(1)#4 AllReduce#4 {Recv(1)#5 Send(1)#5}\n"
            "message by 1 at 0#5, entered 2, missing 1\n");
  EXPECT_TRUE(clean_run_completes(plan));
}

TEST(FindDefect, MessagesBehindTheMissingOneAreNotMade) {
  // Rank 1 goes on without waiting, so that its next Send would take the place of the missing one.
  CallLog log = pipeline({.waiting = {}});
  log.call(0, 0x77, "Send", 8, 1).call(1, 0x77, "Recv", 8, 0).call(1, 0x77, "Send", 8, 2);
  log.call(2, 0x77, "Recv", 8, 1).timeout(2, 6, "RECV");
  const ReplayPlan plan = plan_of_text(log.text(), {.last = 1});
  EXPECT_EQ(testing::program_words(plan.ranks[2]).find("Recv(1)#6"), std::string::npos);
  EXPECT_EQ(testing::program_words(plan.ranks[1]).find("-Send(2)#5"), std::string::npos);
  ASSERT_TRUE(plan.hypothesis.front.has_value());
  EXPECT_EQ(plan.hypothesis.front->index, 5u);
}

TEST(FindDefect, WhoWaitsForAMessageIsNotBlamedForItsSymptom) {
  const CallLog log = pipeline({.waiting = {2}}).timeout(2, 6, "RECV").timeout(0, 6);
  const Suspicion suspicion{"watchdog-timeout-unexplained", "Timed out", "", {}};
  const ReplayPlan plan = plan_of_text(log.text(), {}, {suspicion});
  EXPECT_EQ(plan.hypothesis.kind, DefectKind::Message);
  EXPECT_EQ(plan.hypothesis.diverged, std::vector{1});
}

TEST(FindDefect, WhoWaitsForSomebodyElseDidNotLeaveItsMessageOut) {
  const ReplayPlan plan = plan_of_text(testing::empty_split().text());
  EXPECT_EQ(plan.hypothesis.kind, DefectKind::MissingCall);
  EXPECT_EQ(plan.hypothesis.diverged, std::vector{5});
}

TEST(FindDefect, OfTwoThatOweEachOtherMessagesBothMayHaveDeparted) {
  CallLog log = inits(2, 0x77);
  all_call(log, 2);
  log.call(0, 0x77, "Recv", 8, 1).call(1, 0x77, "Recv", 8, 0).timeout(0, 2, "RECV");
  const ReplayPlan plan = plan_of_text(log.text());
  EXPECT_EQ(plan_words(plan),
            "0: AllReduce#0 +Send(1)#0 -Recv(1)#0\n"
            "1: AllReduce#0 Recv(0)#0\n"
            "message by 0,1 at 0#0, entered 1, missing 0\n");
  EXPECT_TRUE(clean_run_completes(plan));
}

TEST(FindDefect, WhoMayWaitForARankWithoutLogDidNotDepart) {
  CallLog log;
  for (int rank = 0; rank < 3; ++rank) log.init(rank, 3, 0x77);
  for (int rank = 0; rank < 2; ++rank) log.init(rank, 2, 0x81, rank);
  for (int rank = 0; rank < 2; ++rank) log.call(rank, 0x81);
  log.call(1, 0x77, "Recv", 8, 2).call(0, 0x81).timeout(0, 2);
  EXPECT_EQ(plan_of_text(log.text()).hypothesis.kind, DefectKind::None);
}

TEST(FindDefect, WhoCameAfterTheOthersGaveUpIsMissingInTheirLastCall) {
  CallLog log = inits(3, 0x77);
  all_call(log, 3);
  all_call(log, 3);
  log.timeout(0, 2).call(2, 0x77, "AllGather");
  const Suspicion suspicion{"collective-rank-missing", "Missing", "0x77", {2}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {}, {suspicion})),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "2: AllReduce#0 +AllReduce#1\n"
            "missing-call by 2 at 0#1, entered 0,1, missing 2\n");
}

/// Four ranks in a world and in pairs; three iterations of two calls in the pair and one of all.
CallLog pairs() {
  CallLog log = inits(4, 0x77);
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 2, rank < 2 ? 0x81u : 0x82u, rank % 2);
  for (int i = 0; i < 3; ++i) {
    for (int rank = 0; rank < 4; ++rank) {
      const uint64_t pair = rank < 2 ? 0x81 : 0x82;
      log.call(rank, pair).call(rank, pair).call(rank, 0x77, "AllGather");
    }
  }
  return log;
}

TEST(FindDefect, ACallThatNoPartnerMakesIsMadeInTheDefectRunOnly) {
  CallLog log = pairs();
  for (int rank = 0; rank < 4; ++rank) {
    const uint64_t pair = rank < 2 ? 0x81 : 0x82;
    log.call(rank, pair).call(rank, pair);
    if (rank == 2) log.call(rank, pair);
    log.call(rank, 0x77, "AllGather");
  }
  log.timeout(3, 4);
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.last = 1})),
            "0: AllReduce@1#7 AllGather#3\n"
            "1: AllReduce@1#7 AllGather#3\n"
            "2: AllReduce@2#7 -AllReduce@2#8 AllGather#3\n"
            "3: AllReduce@2#7 AllGather#3\n"
            "extra-call by 2 at 2#8, entered 2, missing 3\n");
}

TEST(FindDefect, ARankThatStoppedMakesAllCallsInWhichItIsAwaited) {
  CallLog log = pairs();
  for (int rank = 0; rank < 4; ++rank) {
    const uint64_t pair = rank < 2 ? 0x81 : 0x82;
    if (rank != 2) log.call(rank, pair).call(rank, 0x77, "AllGather");
  }
  log.timeout(0, 4);
  const Suspicion suspicion{"collective-rank-missing", "Missing", "0x77", {2}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {.last = 1}, {suspicion})),
            "0: AllGather#2 AllReduce@1#6 AllGather#3\n"
            "1: AllGather#2 AllReduce@1#6 AllGather#3\n"
            "2: AllReduce@2#5 AllGather#2 +AllReduce@2#6 +AllGather#3\n"
            "3: AllReduce@2#5 AllGather#2 AllReduce@2#6 AllGather#3\n"
            "missing-call by 2 at 0#3, entered 0,1,3, missing 2\n");
}

TEST(FindDefect, AStallHasNothingToLeaveOut) {
  CallLog log = inits(2, 0x77);
  all_call(log, 2);
  all_call(log, 2);
  log.timeout(0, 2).timeout(1, 2);
  const Suspicion suspicion{"all-entered", "All entered", "0x77", {}};
  EXPECT_EQ(plan_words(plan_of_text(log.text(), {}, {suspicion})),
            "0: AllReduce#0 AllReduce#1\n"
            "1: AllReduce#0 AllReduce#1\n"
            "stall by  at 0#1, entered 0,1, missing \n");
}

// Which message is in question in short logs, and who may have left it out.

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
