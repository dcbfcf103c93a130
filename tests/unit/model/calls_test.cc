#include "model/calls.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {
namespace {

CallSignature all_reduce(int64_t count) { return {"AllReduce", count, 7, 0, 0}; }

/// Calls number `from` to `to`, of which each has a size of its own.
CallSequence sequence(uint64_t from, uint64_t to) {
  CallSequence result;
  for (uint64_t i = from; i < to; ++i) result.add({0, i + 1}, all_reduce(static_cast<int64_t>(i)));
  return result;
}

uint64_t hash_of_first(uint64_t length) { return sequence(0, length).hash(); }

TEST(CallSequence, KeepsTheLastCallsWithTheirPlaces) {
  const CallSequence calls = sequence(0, 1000);
  EXPECT_EQ(calls.size(), 1000u);
  EXPECT_EQ(calls.kept_from(), 1000 - CallSequence::kKept);
  EXPECT_EQ(calls.call(calls.kept_from() - 1), nullptr);
  EXPECT_EQ(calls.call(1000), nullptr);
  ASSERT_NE(calls.call(999), nullptr);
  EXPECT_EQ(*calls.call(999), (PlacedCall{{0, 1000}, all_reduce(999)}));
  EXPECT_EQ(calls.call(calls.kept_from())->call, all_reduce(1000 - CallSequence::kKept));
}

TEST(CallSequence, KnowsTheHashOfEveryPrefixThatEndsWithinTheKeptCalls) {
  const CallSequence calls = sequence(0, 1000);
  for (uint64_t length = calls.kept_from(); length <= 1000; ++length) {
    EXPECT_EQ(calls.prefix_hash(length), hash_of_first(length)) << length;
  }
  EXPECT_EQ(calls.prefix_hash(1001), std::nullopt);
  EXPECT_EQ(calls.prefix_hash(3), std::nullopt);
}

TEST(CallSequence, ChecksPlacesFromTheFirstCallOn) {
  const CallSequence calls = sequence(0, 100000);
  ASSERT_FALSE(calls.checkpoints().empty());
  EXPECT_LE(calls.checkpoints().size(), CallSequence::kMaxCheckpoints);
  EXPECT_EQ(calls.checkpoints().front(), (CallCheckpoint{0, 0, {0, 1}}));
  for (const CallCheckpoint& point : calls.checkpoints()) {
    EXPECT_EQ(point.hash, hash_of_first(point.index)) << point.index;
    EXPECT_EQ(point.where.line, point.index + 1);
    EXPECT_EQ(calls.prefix_hash(point.index), point.hash);
  }
}

TEST(CallSequence, JoinsToWhatReadingInOneGoGives) {
  const CallSequence whole = sequence(0, 2000);
  for (const uint64_t cut : {0, 1, 63, 64, 65, 383, 384, 385, 1000, 1999, 2000}) {
    CallSequence joined = sequence(0, cut);
    joined.merge(sequence(cut, 2000));
    EXPECT_EQ(joined, whole) << cut;
    for (const CallCheckpoint& point : joined.checkpoints()) {
      EXPECT_EQ(point.hash, hash_of_first(point.index)) << cut << " " << point.index;
    }
  }
}

TEST(CallSequence, JoinsInAnyGrouping) {
  const CallSequence whole = sequence(0, 1500);
  CallSequence left = sequence(0, 500);
  left.merge(sequence(500, 900));
  left.merge(sequence(900, 1500));
  CallSequence right = sequence(500, 900);
  right.merge(sequence(900, 1500));
  CallSequence outer = sequence(0, 500);
  outer.merge(right);
  EXPECT_EQ(left, whole);
  EXPECT_EQ(outer, whole);
}

TEST(CallSequence, HashesTellEveryFieldApart) {
  const CallSignature call = all_reduce(64);
  const std::vector<CallSignature> others = {{"AllGather", 64, 7, 0, 0},
                                             {"AllReduce", 65, 7, 0, 0},
                                             {"AllReduce", 64, 8, 0, 0},
                                             {"AllReduce", 64, 7, 1, 0},
                                             {"AllReduce", 64, 7, 0, 1}};
  for (const CallSignature& other : others) {
    EXPECT_NE(extended_hash(0, call), extended_hash(0, other));
  }
  EXPECT_NE(extended_hash(extended_hash(0, call), others[0]),
            extended_hash(extended_hash(0, others[0]), call));
}

TEST(CallSequence, UserMadeReductionsAreAlikeWhateverTheirNumber) {
  EXPECT_EQ(extended_hash(0, {"AllReduce", 64, 7, 5, 0}),
            extended_hash(0, {"AllReduce", 64, 7, 2094837, 0}));
  EXPECT_NE(extended_hash(0, {"AllReduce", 64, 7, 4, 0}),
            extended_hash(0, {"AllReduce", 64, 7, 5, 0}));
}

TEST(OpName, CutsWhatIsLongerThanAnyOperation) {
  EXPECT_EQ(OpName("ReduceScatter").view(), "ReduceScatter");
  EXPECT_EQ(OpName("").view(), "");
  EXPECT_EQ(OpName("AVeryLongOperation").view(), "AVeryLongOperat");
}

using Counts = BoundedMap<int, uint64_t, 4>;

Counts count(const std::vector<int>& keys, size_t begin, size_t end) {
  Counts counts;
  for (size_t i = begin; i < end; ++i) counts.add(keys[i], 1);
  return counts;
}

TEST(BoundedMap, KeepsTheSmallestKeysAndCountsTheRest) {
  Counts counts = count({9, 1, 8, 2, 7, 3, 1, 9}, 0, 8);
  EXPECT_EQ(counts.all, (decltype(counts.all){{1, 2}, {2, 1}, {3, 1}, {7, 1}}));
  EXPECT_EQ(counts.other, 3u);
}

TEST(BoundedMap, MergingPartsInAnyGroupingGivesTheCountsOfTheWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> keys(30);
    for (int& key : keys) key = static_cast<int>(random() % 9);
    const size_t i = random() % 31;
    const size_t j = i + random() % (31 - i);
    Counts left = count(keys, 0, i);
    left.merge(count(keys, i, j));
    left.merge(count(keys, j, 30));
    Counts right = count(keys, i, j);
    right.merge(count(keys, j, 30));
    Counts first = count(keys, 0, i);
    first.merge(right);
    EXPECT_EQ(left, count(keys, 0, 30));
    EXPECT_EQ(first, count(keys, 0, 30));
  }
}

TEST(CollectiveCalls, MessagesAreCountedByPeerAndStandInNoSequence) {
  CollectiveCalls calls;
  calls.add({0, 1}, "", {"Send", 4096, 9, 0, 5});
  calls.add({0, 2}, "", {"Recv", 4096, 9, 0, 5});
  calls.add({0, 3}, "", {"Send", 64, 9, 0, 2});
  calls.add({0, 4}, "", {"AllReduce", 1, 7, 0, 0});
  EXPECT_EQ(calls.total, 4u);
  EXPECT_EQ(calls.collectives.size(), 1u);
  ASSERT_EQ(calls.peers.all.size(), 2u);
  EXPECT_EQ(calls.peers.all.at(5).sent.count, 1u);
  EXPECT_EQ(calls.peers.all.at(5).sent, calls.peers.all.at(5).received);
  EXPECT_NE(calls.peers.all.at(5).sent.hash, calls.peers.all.at(2).sent.hash);
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
  EXPECT_EQ(calls.peers.all.size(), calls.peers.kLimit);
  EXPECT_EQ(calls.peers.other, 2 * (300 - calls.peers.kLimit));
  EXPECT_TRUE(calls.peers.all.contains(0));
  EXPECT_FALSE(calls.peers.all.contains(299));
}

CallSignature call(std::string_view op, int64_t count = 1024, int root = 0) {
  return {op, count, 7, 0, root};
}

const std::vector<int> kSame = {0, 1, 2, 3};

/// Letters as calls: upper case on segment 0, lower case on segment 1.
CallTape tape_of(std::string_view letters) {
  CallTape tape;
  for (const char c : letters) tape.add(c >= 'a' ? 1 : 0, call(std::string(1, c)));
  return tape;
}

std::string letters_of(const CallTape& tape) {
  std::string letters;
  for (const uint16_t id : tape.calls()) letters += tape.entries()[id].call.op.view();
  return letters;
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(CallTape, KeepsTheOrderOverAllCommunicators) {
  const CallTape tape = tape_of("BARgARgg");
  EXPECT_EQ(letters_of(tape), "BARgARgg");
  EXPECT_EQ(tape.total(), 8u);
  EXPECT_EQ(tape.kept(), 8u);
  EXPECT_EQ(tape.entries()[3].segment, 1);
}

TEST(CallTape, ALoopCostsAFewRunsWhateverItsLength) {
  struct Row {
    std::string_view name;
    std::string body;
    size_t runs;
  };
  const Row rows[] = {
      {"one call", "A", 6},
      {"a short loop in a loop", "ARARARARR", 14},
      {"many calls of one kind", repeated("A", 200) + "GSGSGSR", 24},
      {"long iterations", "B" + repeated("AR", 700) + repeated("ga", 600) + "R", 32},
  };
  for (const Row& row : rows) {
    const std::string letters = "B" + repeated(row.body, 500);
    const CallTape tape = tape_of(letters);
    EXPECT_EQ(letters_of(tape), letters) << row.name;
    EXPECT_LE(tape.runs().size(), row.runs) << row.name;
  }
}

TEST(CallTape, MessagesOfAllSizesAreOneKind) {
  CallTape tape;
  for (int i = 0; i < 5000; ++i) {
    tape.add(0, call("Send", i, 1));
    tape.add(0, call("Recv", 7 * i, 3));
  }
  EXPECT_EQ(tape.entries().size(), 2u);
  EXPECT_EQ(tape.entries()[0].call.count, -1);
  EXPECT_EQ(tape.entries()[0].call.root, 1);
  EXPECT_EQ(tape.kept(), 10000u);
}

TEST(CallTape, WhatIsTooIrregularIsKeptUpToACertainCall) {
  CallTape many_kinds;
  for (int i = 0; i < 3000; ++i) many_kinds.add(0, call("AllReduce", i));
  EXPECT_EQ(many_kinds.total(), 3000u);
  EXPECT_EQ(many_kinds.kept(), CallTape::kMaxKinds);

  std::mt19937 random(5);
  CallTape noise;
  std::string letters;
  for (int i = 0; i < 60000; ++i) {
    letters += static_cast<char>('A' + random() % 26);
    noise.add(0, call(letters.substr(letters.size() - 1)));
  }
  noise.finish();
  EXPECT_EQ(noise.total(), 60000u);
  EXPECT_EQ(noise.runs().size(), CallTape::kMaxRuns);
  EXPECT_GE(noise.kept(), CallTape::kMaxRuns);
  EXPECT_EQ(letters_of(noise), letters.substr(0, noise.kept()));
}

/// A random program: loops in loops, with something odd now and then.
std::string random_letters(std::mt19937& random) {
  std::string letters;
  const std::string body = repeated("AR", 1 + random() % 5) + "g" + std::string(random() % 4, 'Q');
  const int iterations = 5 + static_cast<int>(random() % 60);
  for (int i = 0; i < iterations; ++i) {
    letters += body;
    if (random() % 11 == 0) letters += static_cast<char>('a' + random() % 26);
  }
  return letters;
}

TEST(CallTape, DoesNotDependOnWhereTheCallsWereCut) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::string letters = random_letters(random);
    const CallTape whole = tape_of(letters);
    const size_t first = random() % letters.size();
    const size_t second = first + random() % (letters.size() - first);
    const CallTape a = tape_of(std::string_view(letters).substr(0, first));
    const CallTape b = tape_of(std::string_view(letters).substr(first, second - first));
    const CallTape c = tape_of(std::string_view(letters).substr(second));
    CallTape from_left = a;
    from_left.merge(b, kSame);
    from_left.merge(c, kSame);
    CallTape behind = b;
    behind.merge(c, kSame);
    CallTape from_right = a;
    from_right.merge(behind, kSame);
    EXPECT_EQ(letters_of(from_left), letters) << round;
    EXPECT_TRUE(from_left == whole) << round;
    EXPECT_TRUE(from_right == whole) << round;
  }
}

TEST(CallTape, LoopsLongerThanItsWindowAreJoinedAtAnyPlace) {
  // What breaks the loop stands where only the end of the window helps to find the loop again.
  const std::string letters =
      repeated("ARgARgQ", 4000) + "x" + repeated("ARgARgQ", 1500) + repeated("bARQ", 2000) + "AR";
  const CallTape whole = tape_of(letters);
  for (const size_t cut : {size_t{3}, size_t{4090}, size_t{9000}, size_t{28001}, size_t{33000}}) {
    CallTape joined = tape_of(std::string_view(letters).substr(0, cut));
    joined.merge(tape_of(std::string_view(letters).substr(cut)), kSame);
    EXPECT_TRUE(joined == whole) << cut;
    joined.merge(whole, kSame);
    EXPECT_TRUE(joined == tape_of(letters + letters)) << cut;
  }
}

TEST(CallTape, NoiseIsCutAtTheSameCallWhereverItWasRead) {
  std::mt19937 random(11);
  std::string letters;
  for (int i = 0; i < 40000; ++i) letters += static_cast<char>('A' + random() % 26);
  CallTape whole = tape_of(letters);
  for (const size_t cut : {size_t{100}, size_t{9000}, size_t{20000}, size_t{39999}}) {
    CallTape joined = tape_of(std::string_view(letters).substr(0, cut));
    joined.merge(tape_of(std::string_view(letters).substr(cut)), kSame);
    joined.finish();
    CallTape finished = whole;
    finished.finish();
    EXPECT_TRUE(joined == finished) << cut;
  }
}

TEST(CallTape, SegmentsGetTheNumbersOfTheEarlierStretch) {
  CallTape tape = tape_of("Ab");
  tape.merge(tape_of("Ab"), {1, 0});
  ASSERT_EQ(tape.entries().size(), 4u);
  EXPECT_EQ(tape.entries()[2].segment, 1);
  EXPECT_EQ(tape.entries()[3].segment, 0);
  tape.renumber({-1, 0});
  EXPECT_EQ(tape.entries()[0].segment, -1);
  EXPECT_EQ(tape.entries()[1].segment, 0);
}

}  // namespace
}  // namespace ncclog
