#include "diagnose/folded_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::LetterCalls;
using testing::repeated;

std::string letters_of(const FoldedCalls& calls, size_t begin, size_t count) {
  const std::vector<int> kinds = calls.kinds(begin, count);
  return {kinds.begin(), kinds.end()};
}

const std::string kLayers = repeated("GS", 4) + "R";
const std::string kTraining = "rB" + repeated(kLayers, 700) + "r" + repeated(kLayers, 300) + "GSG";

TEST(FoldedCalls, HoldEveryCallInItsPlace) {
  const std::string rows[] = {
      "", "A", "ABC", repeated("A", 1000), kTraining, repeated(repeated(kLayers, 10) + "E", 90)};
  for (const std::string& letters : rows) {
    const LetterCalls process(letters);
    const FoldedCalls calls = process.folded();
    ASSERT_EQ(calls.size(), letters.size());
    EXPECT_EQ(letters_of(calls, 0, letters.size()), letters);
    for (size_t begin = 0; begin < letters.size(); begin += 37) {
      const std::string part = letters.substr(begin, 50);
      EXPECT_EQ(letters_of(calls, begin, part.size()), part) << begin;
    }
  }
}

TEST(FoldedCalls, StretchesFollowOneAnother) {
  const LetterCalls process(kTraining);
  const FoldedCalls calls = process.folded();
  size_t end = 0;
  for (size_t s = 0; s < calls.stretches().size(); ++s) {
    const FoldedCalls::Stretch& stretch = calls.stretches()[s];
    EXPECT_EQ(stretch.begin, end);
    EXPECT_EQ(calls.stretch_of(stretch.begin), s);
    end = stretch.end();
    EXPECT_EQ(calls.stretch_of(end - 1), s);
  }
  EXPECT_EQ(end, calls.size());
}

TEST(FoldedCalls, ALoopIsKeptOnce) {
  const LetterCalls once(repeated(kLayers, 100));
  const LetterCalls often(repeated(kLayers, 10000));
  EXPECT_EQ(often.folded().stored(), once.folded().stored());
  EXPECT_LE(often.folded().stored(), 4 * kLayers.size());
}

TEST(FoldedCalls, AreComparedSideBySide) {
  const LetterCalls a(kTraining);
  const LetterCalls b("r" + repeated(kLayers, 900) + "B");
  const FoldedCalls left = a.folded();
  const FoldedCalls right = b.folded();
  EXPECT_TRUE(same_calls(left, 2, right, 1, 9 * 700));
  EXPECT_FALSE(same_calls(left, 2, right, 1, 9 * 700 + 1));
  EXPECT_FALSE(same_calls(left, 3, right, 1, 9 * 700));
  EXPECT_TRUE(same_calls(left, 3, right, 1 + 9 * 50 + 1, 9 * 600));
  EXPECT_TRUE(same_calls(left, 0, right, 0, 0));
  EXPECT_TRUE(same_calls(left, kTraining.size(), right, 0, 0));
}

}  // namespace
}  // namespace ncclog
