#include "replay/plan/build_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "model/derive/build_job.h"
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

/// Rank 1 of 4 made that call.
PlannedCall planned(const CallSignature& call, uint64_t sendbuff, uint64_t recvbuff) {
  CallLog log;
  for (int rank = 0; rank < 4; ++rank) log.init(rank, 4, 0x77).call(rank, 0x77);
  const Job job = job_from_text(log.text());
  const PlanSeats seats = plan_seats(job, covered_members(job), {0});
  return planned_call(job, seats,
                      {.by = {0, 1}, .call = call, .sendbuff = sendbuff, .recvbuff = recvbuff});
}

TEST(PlannedCall, IsInPlaceAsNcclMeansIt) {
  struct Row {
    CallSignature call;
    uint64_t sendbuff;
    uint64_t recvbuff;
    bool in_place;
  };
  const Row rows[] = {
      {{"AllReduce", 256, 7, 0, 0}, 0x1000, 0x1000, true},
      {{"AllReduce", 256, 7, 0, 0}, 0x1000, 0x2000, false},
      {{"AllGather", 256, 7, 0, 0}, 0x1400, 0x1000, true},
      {{"AllGather", 256, 7, 0, 0}, 0x1000, 0x1000, false},
      {{"ReduceScatter", 256, 7, 0, 0}, 0x1000, 0x1400, true},
      {{"ReduceScatter", 256, 7, 0, 0}, 0x1000, 0x1000, false},
      {{"Gather", 256, 7, 0, 1}, 0x1400, 0x1000, true},
      {{"Gather", 256, 7, 0, 0}, 0x1400, 0x1000, false},
      {{"Scatter", 256, 7, 0, 1}, 0x1000, 0x1400, true},
      {{"Broadcast", 256, 7, 0, 0}, 0x1000, 0x1000, true},
      {{"Broadcast", 256, 7, 0, 0}, 0, 0, false},
      {{"Send", 256, 7, 0, 0}, 0x1000, 0, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(planned(row.call, row.sendbuff, row.recvbuff).in_place, row.in_place)
        << row.call.op.view() << " " << row.sendbuff << " " << row.recvbuff;
  }
}

TEST(PlannedCall, KeepsOffsetsFromTheBoundaryOfABuffer) {
  const PlannedCall call = planned({"AllReduce", 4, 7, 0, 0}, 0x7f00000210, 0x7f000004f8);
  EXPECT_EQ(call.send_offset, 0x10);
  EXPECT_EQ(call.recv_offset, 0xf8);
  // No element stands across its boundary, whatever a torn line says.
  EXPECT_EQ(planned({"AllReduce", 4, 7, 0, 0}, 0x103, 0x100).send_offset, 0);
}

TEST(PlannedCall, SaysOnlyWhatMattersToItsFunction) {
  const PlannedCall gather = planned({"AllGather", 4, 7, 2, 3}, 1, 2);
  EXPECT_EQ(gather.root, -1);
  EXPECT_EQ(gather.redop, 0);
  EXPECT_EQ(planned({"Reduce", 4, 7, 2, 3}, 1, 2).root, 3);
  EXPECT_EQ(planned({"Reduce", 4, 7, 2, 3}, 1, 2).redop, 2);
  EXPECT_EQ(planned({"AllReduce", 4, 7, 771, 0}, 1, 2).redop, kUserRedop);
}

TEST(CanBePlanned, OnlyWhatAReplayCanMake) {
  EXPECT_TRUE(can_be_planned({"AllReduce", 0, 7, 0, 0}));
  EXPECT_FALSE(can_be_planned({"PutSignal", 4, 7, 0, 0}));
  EXPECT_FALSE(can_be_planned({"AllReduce", -1, 7, 0, 0}));
  EXPECT_FALSE(can_be_planned({"AllReduce", 4, 99, 0, 0}));
  EXPECT_FALSE(can_be_planned({"Broadcast", 4, 7, 0, -1}));
  EXPECT_FALSE(can_be_planned({"Send", 4, 7, 0, -1}));
}

TEST(PlanPrograms, MessagesStandAloneWhereOpCountStandsStill) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  log.call(0, 0x77, "Send", 8, 1).call(0, 0x77, "Recv", 8, 1).call(0, 0x77);
  log.call(1, 0x77, "Send", 8, 0).call(1, 0x77, "Recv", 8, 0).call(1, 0x77);
  const ReplayPlan plan = testing::plan_of_text(log.text());
  EXPECT_EQ(testing::plan_words(plan),
            "0: Send(1)#0 Recv(1)#0 AllReduce#0\n1: Send(0)#0 Recv(0)#0 AllReduce#0\n");
  ASSERT_FALSE(plan.losses.empty());
  EXPECT_NE(plan.losses.front().find("messages are replayed one by one"), std::string::npos);
}

TEST(PlanPrograms, MessagesOfOneOpCountAreAGroupWhereItCounts) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  for (const uint64_t op_count : {4, 5}) {
    log.op_count(op_count);
    log.call(0, 0x77, "Send", 8, 1).call(0, 0x77, "Recv", 8, 1);
    log.call(1, 0x77, "Send", 8, 0).call(1, 0x77, "Recv", 8, 0);
  }
  const ReplayPlan plan = testing::plan_of_text(log.text());
  EXPECT_EQ(testing::plan_words(plan),
            "0: {Send(1)#0 Recv(1)#0} {Send(1)#1 Recv(1)#1}\n"
            "1: {Send(0)#0 Recv(0)#0} {Send(0)#1 Recv(0)#1}\n");
  ASSERT_FALSE(plan.losses.empty());
  EXPECT_EQ(plan.losses.front().substr(0, 41), "No line tells of groups (subsystem CALL):");
}

TEST(PlanPrograms, APeerThatIsNamedAgainBeginsAnotherGroup) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  for (int i = 0; i < 2; ++i) {
    log.call(0, 0x77, "Send", 8, 1).call(1, 0x77, "Recv", 8, 0);
  }
  EXPECT_EQ(testing::plan_words(testing::plan_of_text(log.text())),
            "0: Send(1)#0 Send(1)#1\n1: Recv(0)#0 Recv(0)#1\n");
}

std::string refusal_of(const std::string& text, const std::vector<Suspicion>& suspicions = {}) {
  const Job job = job_from_text(text);
  try {
    refuse_unknown_calls(job, covered_members(job), suspicions);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RefuseUnknownCalls, SaysWhatIsMissing) {
  testing::CallLog silent;
  silent.init(0, 2, 0x77).init(1, 2, 0x77);
  testing::CallLog nameless;
  nameless.size(0x77, 2).call(0, 0x77).call(1, 0x77);
  testing::CallLog alone;
  alone.init(0, 2, 0x77).call(0, 0x77);
  testing::CallLog enough;
  enough.init(0, 2, 0x77).init(1, 2, 0x77).call(0, 0x77).call(1, 0x77);
  EXPECT_EQ(refusal_of("iteration: 1\n"),
            "no line of these logs was printed by NCCL, so there is nothing to replay");
  EXPECT_EQ(refusal_of(silent.text()),
            "these logs have no line about a call of NCCL, so nobody knows what the ranks called "
            "in which order");
  EXPECT_EQ(refusal_of(nameless.text()),
            "no line says which ranks the communicators of these calls have (Init START and "
            "COMPLETE)");
  EXPECT_EQ(refusal_of(alone.text()),
            "only 1 of a communicator's ranks has its calls in these logs; a replay needs those "
            "of two at least");
  EXPECT_EQ(refusal_of(enough.text()), "");
}

constexpr const char* kShmFailed =
    "n0:50:50 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n"
    "n0:50:50 [0] NCCL INFO Bootstrap: Using eth0:192.0.2.2<0>\n"
    "n0:50:60 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - "
    "Init START\n"
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3690, "
    "unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.28.9\n";

TEST(RefuseUnknownCalls, SaysThatAJobFailedBeforeItsFirstCall) {
  const Suspicion advice = {
      .id = "hint", .title = "A hint", .communicator = "", .is_testable = false};
  const Suspicion cause = {.id = "shm-no-space", .title = "/dev/shm is full", .communicator = ""};
  const std::string said =
      "the job failed before its first call of NCCL, so there is nothing to replay";
  EXPECT_EQ(refusal_of(kShmFailed, {advice, cause}), said + ": /dev/shm is full [shm-no-space]");
  EXPECT_EQ(refusal_of(kShmFailed, {advice}), said);
}

TEST(FailedBeforeCalls, IsSaidOnlyWhereItIsKnown) {
  const std::string failed = kShmFailed;
  const std::string complete =
      "n0:50:60 [0] NCCL INFO comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 "
      "- Init COMPLETE\n";
  const std::string only_warns =
      "n0:51:61 [1] misc/socket.cc:1 NCCL WARN Net : Call to recv from 192.0.2.3<4> failed : "
      "Connection reset by peer\n";
  EXPECT_TRUE(failed_before_calls(job_from_text(failed)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed.substr(0, failed.find("[rank0]")))));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + complete)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + only_warns)));
  const std::string only_settings =
      "n0:50:50 [0] NCCL INFO NCCL_DEBUG_SUBSYS set by environment to ENV\n"
      "n0:51:51 [1] NCCL INFO NCCL_DEBUG_SUBSYS set by environment to ENV\n";
  const std::string watchdog =
      "[rank0]:[E209 11:22:33.123456789 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
      "collective operation timeout: WorkNCCL(SeqNum=40, OpType=ALLREDUCE, NumelIn=512, "
      "NumelOut=512, Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
  EXPECT_FALSE(failed_before_calls(job_from_text(only_settings + watchdog)));
  EXPECT_FALSE(failed_before_calls(job_from_text(failed + watchdog)));
  EXPECT_FALSE(failed_before_calls(job_from_text("")));
}

}  // namespace
}  // namespace ncclog
