#include <gtest/gtest.h>

#include "model/build/build_job.h"
#include "replay/plan/recorded_calls.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::inits;

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
