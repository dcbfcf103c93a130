#include "replay/plan/recorded_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/derive/build_job.h"
#include "support/call_log.h"
#include "support/plan_of_text.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::inits;

std::vector<RecordedCall> calls_of_first(const std::string& text, uint64_t last = 32) {
  const Job job = job_from_text(text);
  const RecordedCalls recorded = testing::recorded_of(job, text, last);
  return recorded.by_process.empty() ? std::vector<RecordedCall>{}
                                     : recorded.by_process.begin()->second;
}

std::string two_ranks(std::string_view more) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  return log.text() + std::string(more);
}

constexpr const char* kPartner =
    "n3:51:51 [1] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8 datatype 7 op 0 "
    "root 0 comm 0x200770 [nranks=2] stream 0x5\n";

TEST(RecordedCalls, KeepBuffersStreamAndOpCount) {
  const auto calls = calls_of_first(two_ranks(
      std::string("n3:50:50 [0] NCCL INFO AllReduce: opCount 1b sendbuff 0x7f00000200 recvbuff "
                  "0x7f00000400 count 8 datatype 7 op 0 root 0 comm 0x100770 [nranks=2] stream "
                  "0x5581aa30\n") +
      kPartner));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].sendbuff, 0x7f00000200u);
  EXPECT_EQ(calls[0].recvbuff, 0x7f00000400u);
  EXPECT_EQ(calls[0].stream, 0x5581aa30u);
  EXPECT_EQ(calls[0].op_count, 0x1bu);
  EXPECT_EQ(calls[0].index, 0u);
  EXPECT_EQ(calls[0].group, -1);
}

TEST(RecordedCalls, TheBufferOfASendIsFoundInEitherPlace) {
  for (const char* buffers : {"sendbuff (nil) recvbuff 0x4500", "sendbuff 0x4500 recvbuff (nil)"}) {
    const auto calls = calls_of_first(two_ranks(
        std::string("n3:50:50 [0] NCCL INFO Send: opCount 0 ") + buffers +
        " count 8 datatype 7 op 0 root 1 comm 0x100770 [nranks=2] stream (nil)\n" +
        "n3:51:51 [1] NCCL INFO Recv: opCount 0 sendbuff (nil) recvbuff 0x10 count 8 datatype 7 "
        "op 0 root 0 comm 0x200770 [nranks=2] stream (nil)\n"));
    ASSERT_EQ(calls.size(), 1u) << buffers;
    EXPECT_EQ(calls[0].sendbuff, 0x4500u) << buffers;
    EXPECT_EQ(calls[0].recvbuff, 0u) << buffers;
  }
}

TEST(RecordedCalls, GroupsAreThoseOfTheCallsThread) {
  const std::string call =
      "NCCL CALL ncclAllReduce(7f00000200,7f00000200,8,7,0,0,0x100770,(nil))\n";
  const auto calls = calls_of_first(
      "n3:50:50 NCCL CALL ncclCommInitRank(0x100770, 2, 0x77, 0, 0)\n"
      "n3:51:51 NCCL CALL ncclCommInitRank(0x200770, 2, 0x77, 1, 1)\n"
      "n3:50:50 " +
      call +
      "n3:50:50 NCCL CALL ncclGroupStart()\n"
      "n3:50:50 " +
      call + "n3:50:61 " + call +
      "n3:50:50 NCCL CALL ncclGroupStart()\n"
      "n3:50:50 " +
      call +
      "n3:50:50 NCCL CALL ncclGroupEnd()\n"
      "n3:50:50 NCCL CALL ncclGroupEnd()\n"
      "n3:50:50 " +
      call + "n3:51:51 NCCL CALL ncclAllReduce(7f00000200,7f00000200,8,7,0,0,0x200770,(nil))\n");
  std::vector<int64_t> groups;
  for (const RecordedCall& one : calls) groups.push_back(one.group);
  EXPECT_EQ(groups, (std::vector<int64_t>{-1, 0, -1, 0, -1}));
}

TEST(RecordedCalls, APointerThatComesBackIsAnotherCommunicator) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  log.call(0, 0x77).call(1, 0x77).call(0, 0x77).call(1, 0x77);
  log.destroyed(0, 2, 0x77).destroyed(1, 2, 0x77);
  std::string again = log.text();
  CallLog later;
  later.init(0, 2, 0x77).init(1, 2, 0x77).call(0, 0x77, "AllGather").call(1, 0x77, "AllGather");
  std::string text = later.text();
  for (size_t at = 0; (at = text.find("commId 0x77", at)) != std::string::npos; ++at) {
    text.replace(at, 11, "commId 0x99");
  }
  const auto calls = calls_of_first(again + text);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[1].index, 1u);
  EXPECT_EQ(calls[2].index, 0u);
  EXPECT_NE(calls[2].by.communicator, calls[1].by.communicator);
}

TEST(RecordedCalls, OneKindOfLineIsTakenWhereBothTellOfACall) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77).call(0, 0x77);
  const auto calls = calls_of_first(
      log.text() + "n3:50:50 NCCL CALL ncclAllReduce(1,2,512,7,0,0,0x100770,0x5)\n" + kPartner);
  EXPECT_EQ(calls.size(), 1u);
}

TEST(RecordedCalls, OnlyTheWindowIsKept) {
  CallLog log;
  log.init(0, 2, 0x77).init(1, 2, 0x77);
  for (int i = 0; i < 100; ++i) log.call(0, 0x77).call(1, 0x77);
  const auto calls = calls_of_first(log.text(), 4);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls.front().index, 96u);
}

CallWindows windows_of(const Job& job, uint64_t last) {
  return call_windows(job, covered_members(job), last);
}

TEST(CallWindows, BeginAtOneCallOnAllRanksAndHoldWhatSomeMadeBeyond) {
  CallLog log = inits(2, 0x77);
  for (int i = 0; i < 10; ++i) log.call(0, 0x77);
  for (int i = 0; i < 7; ++i) log.call(1, 0x77);
  const Job job = job_from_text(log.text());
  const CallWindows windows = windows_of(job, 3);
  ASSERT_EQ(windows.size(), 2u);
  for (const auto& [member, window] : windows) {
    EXPECT_EQ(window.collectives, (CallWindow{4, 7 + kBeyond}));
  }
}

TEST(CallWindows, BeginAtTheStartWhereFewerCallsWereMade) {
  CallLog log = inits(2, 0x77);
  log.call(0, 0x77).call(1, 0x77);
  const Job job = job_from_text(log.text());
  EXPECT_EQ(windows_of(job, 32).begin()->second.collectives, (CallWindow{0, 1 + kBeyond}));
}

TEST(CallWindows, MessagesCountByPairAndDirection) {
  CallLog log = inits(3, 0x77);
  for (int i = 0; i < 5; ++i) log.call(0, 0x77, "Send", 8, 1).call(1, 0x77, "Recv", 8, 0);
  log.call(0, 0x77, "Send", 8, 1).call(2, 0x77);
  const Job job = job_from_text(log.text());
  const CallWindows windows = windows_of(job, 2);
  EXPECT_EQ(windows.at({0, 0}).sent.at(1), (CallWindow{3, 5 + kBeyond}));
  EXPECT_EQ(windows.at({0, 1}).received.at(0), (CallWindow{3, 5 + kBeyond}));
  EXPECT_TRUE(windows.at({0, 2}).sent.empty());
}

TEST(CallWindows, ADifferenceIsTheEndOfWhatAllMadeAlike) {
  CallLog log = inits(2, 0x77);
  for (int i = 0; i < 9; ++i) log.call(0, 0x77).call(1, 0x77, "AllReduce", i == 6 ? 4 : 512);
  const Job job = job_from_text(log.text());
  EXPECT_EQ(windows_of(job, 4).begin()->second.collectives, (CallWindow{2, 6 + kBeyond}));
}

TEST(CoveredMembers, AreThoseWhoseCallsTheLogsCount) {
  CallLog log = inits(2, 0x77);
  log.init(2, 3, 0x88).init(0, 3, 0x88).init(1, 3, 0x88);
  log.call(0, 0x77).call(1, 0x77);
  const Job job = job_from_text(log.text());
  const std::vector<Membership> members = covered_members(job);
  // Process 52 printed no call at all: what it called is not known.
  EXPECT_EQ(members, (std::vector<Membership>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(CoveredMembers, NobodyWithoutNumbersOrPartners) {
  CallLog nameless;
  nameless.size(0x77, 2).call(0, 0x77).call(1, 0x77);
  EXPECT_TRUE(covered_members(job_from_text(nameless.text())).empty());
  CallLog alone;
  alone.init(0, 2, 0x77).call(0, 0x77);
  EXPECT_TRUE(covered_members(job_from_text(alone.text())).empty());
}

}  // namespace
}  // namespace ncclog
