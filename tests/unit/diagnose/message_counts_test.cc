#include "diagnose/message_counts.h"

#include <gtest/gtest.h>

#include "model/call_coverage.h"
#include "model/build/build_job.h"
#include "support/call_log.h"

namespace ncclog {
namespace {

using testing::CallLog;

constexpr int kMost = static_cast<int>(CollectiveCalls::kMaxPeers);

/// Rank 0 sends once to each of `peers` others and receives twice from the last one.
Job with_peers(int peers) {
  CallLog log;
  log.init(0, 2000, 1);
  for (int peer = 1; peer <= peers; ++peer) log.call(0, 1, "Send", 8, peer);
  log.call(0, 1, "Recv", 8, peers).call(0, 1, "Recv", 8, peers);
  return job_from_text(log.text());
}

const CommRank& rank_0(const Job& job) { return job.communicators.at(0).ranks.at(0); }

TEST(MessageCounts, AreThoseOfThePeerAndTheDirection) {
  const Job job = with_peers(3);
  EXPECT_EQ(message_count(job, rank_0(job), 2, false)->count, 1u);
  EXPECT_EQ(message_count(job, rank_0(job), 2, true)->count, 0u);
  EXPECT_EQ(message_count(job, rank_0(job), 3, true)->count, 2u);
  EXPECT_EQ(message_count(job, rank_0(job), 4, true)->count, 0u);
  EXPECT_EQ(message_peers(job, rank_0(job)), (std::vector{1, 2, 3}));
  EXPECT_FALSE(has_unknown_peers(job, rank_0(job)));
}

TEST(MessageCounts, OfManyPeersComeFromTheTape) {
  const Job job = with_peers(kMost + 2);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 1, false)->count, 1u);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 2, true)->count, 2u);
  EXPECT_EQ(message_count(job, rank_0(job), kMost + 3, true)->count, 0u);
  EXPECT_FALSE(message_count(job, rank_0(job), kMost + 2, true)->sizes.has_value());
  EXPECT_EQ(message_peers(job, rank_0(job)).size(), kMost + 2u);
  EXPECT_FALSE(has_unknown_peers(job, rank_0(job)));
}

TEST(MessageCounts, AreUnknownWhereTheTapeDoesNotKeepAllCalls) {
  const Job job = with_peers(static_cast<int>(CallTape::kMaxKinds) + 1);
  EXPECT_EQ(message_count(job, rank_0(job), kMost, false)->count, 1u);
  EXPECT_FALSE(message_count(job, rank_0(job), kMost + 1, false).has_value());
  EXPECT_EQ(message_peers(job, rank_0(job)).size(), static_cast<size_t>(kMost));
  EXPECT_TRUE(has_unknown_peers(job, rank_0(job)));
}

}  // namespace
}  // namespace ncclog
