#include "model/collective_calls.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(CollectiveCalls, MessagesAreCountedByPeerAndStandInNoSequence) {
  CollectiveCalls calls;
  calls.add({0, 1}, "", {"Send", 4096, 9, 0, 5});
  calls.add({0, 2}, "", {"Recv", 4096, 9, 0, 5});
  calls.add({0, 3}, "", {"Send", 64, 9, 0, 2});
  calls.add({0, 4}, "", {"AllReduce", 1, 7, 0, 0});
  EXPECT_EQ(calls.total, 4u);
  EXPECT_EQ(calls.collectives.size(), 1u);
  ASSERT_EQ(calls.peers.size(), 2u);
  EXPECT_EQ(calls.peers.at(5).sent.count, 1u);
  EXPECT_EQ(calls.peers.at(5).sent, calls.peers.at(5).received);
  EXPECT_NE(calls.peers.at(5).sent.hash, calls.peers.at(2).sent.hash);
}

TEST(CollectiveCalls, MessagesJoinInAnyGrouping) {
  CollectiveCalls whole;
  CollectiveCalls parts[3];
  for (int i = 0; i < 9; ++i) {
    const CallSignature send{"Send", 100 + i, 7, 0, i % 2};
    whole.add({0, static_cast<uint64_t>(i + 1)}, "", send);
    parts[i / 3].add({0, static_cast<uint64_t>(i + 1)}, "", send);
  }
  CollectiveCalls left = parts[0];
  left.merge(parts[1]);
  left.merge(parts[2]);
  parts[1].merge(parts[2]);
  parts[0].merge(parts[1]);
  EXPECT_EQ(left, whole);
  EXPECT_EQ(parts[0], whole);
}

TEST(CollectiveCalls, PeersBeyondTheLimitAreCountedTogether) {
  CollectiveCalls calls;
  for (int peer = 0; peer < 300; ++peer) {
    calls.add({0, 1}, "", {"Send", 1, 7, 0, peer});
    calls.add({0, 1}, "", {"Recv", 1, 7, 0, peer});
  }
  EXPECT_EQ(calls.peers.size(), CollectiveCalls::kMaxPeers);
  EXPECT_EQ(calls.other_peers, 2 * (300 - CollectiveCalls::kMaxPeers));
  EXPECT_TRUE(calls.peers.contains(0));
  EXPECT_FALSE(calls.peers.contains(299));
}

}  // namespace
}  // namespace ncclog
