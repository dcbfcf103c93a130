#include "diagnose/calls/who_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/derive/build_job.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;
using testing::world;

/// "2" for a rank that waits for nobody, "0+1" for a circle; one after the other.
std::string blockers_of(const CallLog& log) {
  const Job job = job_from_text(log.text());
  std::vector<std::string> blockers;
  for (const Blocker& blocker : find_waits(job).blockers) {
    std::vector<std::string> ranks;
    for (const Waiter& waiter : blocker.waiters) ranks.push_back(std::to_string(waiter.cuda_dev));
    blockers.push_back(join(ranks, "+"));
  }
  return join(blockers, " ");
}

TEST(CallWaits, NobodyWaitsWhereAllMadeTheSameCalls) { EXPECT_EQ(blockers_of(world(3)), ""); }

TEST(CallWaits, TheRankThatDidNotEnterHoldsUpThoseThatDid) {
  EXPECT_EQ(blockers_of(world(3).call(0, 1).call(2, 1)), "1");
}

TEST(CallWaits, RanksThatRanAheadWaitForTheLastOneOnly) {
  EXPECT_EQ(blockers_of(world(3).call(0, 1).call(0, 1).call(0, 1).call(2, 1)), "1");
}

TEST(CallWaits, ALateRankThatWaitsElsewhereIsNotTheOne) {
  // Rank 1 did not come to the world's call, because it waits for rank 2 in a pair.
  CallLog log = world(4);
  log.init(1, 2, 2, 0).init(2, 2, 2, 1);
  EXPECT_EQ(blockers_of(log.call(0, 1).call(3, 1).call(1, 2)), "2");
}

TEST(CallWaits, RanksThatWaitForEachOtherAreACircle) {
  CallLog log = world(2);
  log.init(0, 2, 2).init(1, 2, 2);
  EXPECT_EQ(blockers_of(log.call(0, 1).call(1, 2)), "0+1");
}

TEST(CallWaits, NothingFollowsFromACommunicatorWithAnUnknownRank) {
  CallLog log;
  log.init(0, 3, 1).init(1, 3, 1).call(0, 1).call(1, 1).call(0, 1);
  EXPECT_EQ(blockers_of(log), "");
}

TEST(CallWaits, AMessageWithoutItsCounterpartWaitsForThePeer) {
  EXPECT_EQ(blockers_of(world(2).call(0, 1, "Send", 64, 1)), "1");
  EXPECT_EQ(blockers_of(world(2).call(0, 1, "Recv", 64, 1)), "1");
  EXPECT_EQ(blockers_of(world(2).call(0, 1, "Recv", 64, 1).call(1, 1, "Send", 64, 0)), "");
}

TEST(CallWaits, AMessageThatStandsBehindAWaitingOneIsWaitedFor) {
  // Rank 1 enqueued its Send to rank 0 behind a Recv that lacks its Send.
  CallLog log = world(4);
  log.call(0, 1, "Recv", 64, 1).call(1, 1, "Recv", 64, 2).call(1, 1, "Send", 64, 0);
  EXPECT_EQ(blockers_of(log.call(1, 1).call(3, 1).call(2, 1)), "0+1+2");
}

TEST(CallWaits, AMessageThatStandsBeforeAWaitingOneIsNot) {
  CallLog log = world(3);
  log.call(0, 1, "Recv", 64, 1).call(1, 1, "Send", 64, 0).call(1, 1, "Recv", 64, 2);
  EXPECT_EQ(blockers_of(log), "2");
}

TEST(CallWaits, AMessageOfAnotherSizeKeepsBothEnds) {
  CallLog log = world(3);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 128, 0).call(2, 1);
  EXPECT_EQ(blockers_of(log), "0+1");
}

TEST(CallWaits, CollectivesCloseACircleOnlyWithoutMessages) {
  CallLog messages = world(2);
  messages.call(0, 1).call(1, 1, "Recv", 64, 0);
  CallLog fronts = world(2);
  fronts.init(0, 2, 2).init(1, 2, 2).call(0, 1).call(1, 2);
  for (const auto& [log, is_closed] : {std::pair(messages, false), std::pair(fronts, true)}) {
    const Job job = job_from_text(log.text());
    const Waits& waits = find_waits(job);
    ASSERT_EQ(waits.blockers.size(), 1u);
    EXPECT_EQ(is_closed_by_fronts(waits, waits.blockers[0]), is_closed);
  }
}

TEST(CallWaits, ALongChainEndsAtItsLastRank) {
  constexpr int kRanks = 40;
  CallLog log = world(kRanks);
  for (int rank = 0; rank + 1 < kRanks; ++rank) log.call(rank, 1, "Recv", 64, rank + 1);
  EXPECT_EQ(blockers_of(log), std::to_string(kRanks - 1));
}

TEST(CallWaits, MessagesOfOtherSizesAreTold) {
  CallLog log = world(2);
  log.call(0, 1, "Send", 64, 1).call(1, 1, "Recv", 128, 0);
  const Job job = job_from_text(log.text());
  const auto messages = unmatched_messages(job, 0);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].sizes_differ);
  EXPECT_EQ(messages[0].sent, 1u);
}

TEST(CallWaits, MessagesOfAsManyBytesMeetWhateverTheirDatatypes) {
  constexpr int kFloat32 = 7;
  constexpr int kBfloat16 = 9;
  CallLog log = world(2);
  log.call(0, 1, "Send", 64, 1, kFloat32).call(1, 1, "Recv", 128, 0, kBfloat16);
  EXPECT_TRUE(unmatched_messages(job_from_text(log.text()), 0).empty());
  log.call(0, 1, "Send", 64, 1, kFloat32).call(1, 1, "Recv", 64, 0, kBfloat16);
  EXPECT_EQ(unmatched_messages(job_from_text(log.text()), 0).size(), 1u);
}

TEST(CallWaits, SizesThatNoMessageHasAreComparedAsTheyStand) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CallLog log = world(2);
  log.call(0, 1, "Send", kLeast, 1).call(1, 1, "Recv", kLeast, 0);
  log.call(0, 1, "Send", kMost, 1).call(1, 1, "Recv", kMost, 0);
  EXPECT_TRUE(unmatched_messages(job_from_text(log.text()), 0).empty());
}

using testing::CallLog;
using testing::inits;

std::string ranks_of(const Job& job, std::span<const SimulatedCall> calls) {
  std::vector<std::string> ranks;
  for (const SimulatedCall& call : calls) {
    ranks.push_back(std::to_string(rank_programs(job)[call.program].waiter.cuda_dev));
  }
  return join(ranks, "+");
}

/// "0>1#2: 1 for 0": rank 1 may wait in the third message from 0 to 1, for rank 0.
std::string held_in(const CallLog& log) {
  const Job job = job_from_text(log.text());
  const Simulation simulation = simulate_calls(job);
  std::vector<std::string> calls;
  for (const auto& [key, meeting] : simulation.meetings()) {
    if (!meeting.is_complete || meeting.came().empty() || meeting.has_ended()) continue;
    const CallLine& line = key.line;
    const std::string where =
        line.is_message() ? fmt::format("{}>{}", line.sender, line.receiver) : "all";
    calls.push_back(fmt::format("{}#{}: {} for {}", where, key.index, ranks_of(job, meeting.came()),
                                ranks_of(job, meeting.awaited())));
  }
  return join(calls, "; ");
}

TEST(HeldCalls, AreNoneWhereNothingIsOpen) {
  EXPECT_EQ(held_in(inits(2).call(0, 1).call(1, 1)), "");
  EXPECT_EQ(held_in(inits(2).call(0, 1, "Send", 8, 1).call(1, 1, "Recv", 8, 0)), "");
}

TEST(HeldCalls, StandBehindAnOpenOne) {
  // Rank 1 enqueued its Send to rank 0 behind a Recv that lacks its Send.
  CallLog log = inits(3);
  log.call(0, 1, "Recv", 8, 1).call(1, 1, "Recv", 8, 2).call(1, 1, "Send", 8, 0);
  EXPECT_EQ(held_in(log.call(2, 1)), "1>0#0: 0 for 1");
}

TEST(HeldCalls, AreNotThoseBeforeAnOpenOne) {
  CallLog log = inits(3);
  log.call(0, 1, "Recv", 8, 1).call(1, 1, "Send", 8, 0).call(1, 1, "Recv", 8, 2);
  EXPECT_EQ(held_in(log.call(2, 1)), "");
}

TEST(HeldCalls, MayBeACollectiveOfManyRanks) {
  CallLog log = inits(4);
  log.call(1, 1, "Recv", 8, 3);
  for (int rank = 0; rank < 4; ++rank) log.call(rank, 1);
  EXPECT_EQ(held_in(log), "all#0: 0+2+3 for 1");
}

TEST(HeldCalls, HoldFurtherOnes) {
  // Rank 2 waits for a Send of rank 3, rank 1 for one behind that, rank 0 for one behind that.
  CallLog log = inits(4);
  log.call(2, 1, "Recv", 8, 3).call(2, 1, "Send", 8, 1);
  log.call(1, 1, "Recv", 8, 2).call(1, 1, "Send", 8, 0).call(0, 1, "Recv", 8, 1).call(3, 1);
  EXPECT_EQ(held_in(log), "1>0#0: 0 for 1; 2>1#0: 1 for 2");
}

}  // namespace

}  // namespace ncclog
