#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls.h"

namespace ncclog {
namespace {

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
