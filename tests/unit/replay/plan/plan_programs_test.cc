#include <gtest/gtest.h>

#include <string>

#include "model/build/build_job.h"
#include "replay/plan/build_plan.h"
#include "support/call_log.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::CallLog;

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

}  // namespace
}  // namespace ncclog
