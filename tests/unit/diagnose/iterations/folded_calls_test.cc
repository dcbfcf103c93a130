#include "diagnose/iterations/folded_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/letter_calls.h"

namespace ncclog {
namespace {

using testing::LetterCalls;
using testing::repeated;

/// The pattern that calls, one letter each, repeat, as letters, and where it stands first; "-" if
/// none.
std::string period_of(std::string_view letters, size_t steps = 0) {
  const LetterCalls calls(letters);
  const std::vector<int> period = find_period(calls.folded(), calls.tape, steps);
  if (period.empty()) return "-";
  return std::string(period.begin(), period.end()) + "@" +
         std::to_string(find_repeats(calls.folded(), period).front());
}

TEST(FindPeriod, IsWhatExplainsNearlyAllCalls) {
  struct Row {
    std::string_view name;
    std::string letters;
    std::string period;
  };
  const std::string layers = repeated("GS", 4) + "R";
  const Row rows[] = {
      {"three iterations with layers inside", "rB" + repeated(layers, 3) + "r", layers + "@2"},
      {"two iterations", "rB" + repeated(layers, 2) + "r", layers + "@2"},
      {"eighty layers", "B" + repeated(repeated("GS", 80) + "R", 5), repeated("GS", 80) + "R@1"},
      {"many calls of one kind in an iteration", "rB" + repeated(repeated("A", 200) + layers, 40),
       repeated("A", 200) + layers + "@2"},
      {"a checkpoint every tenth iteration", "B" + repeated(repeated("GSGSCR", 10) + "B", 20),
       "BGSGSC"},
      {"a long training", "rB" + repeated(layers, 3000) + "r", layers + "@2"},
      {"two phases, the first one longer",
       "r" + repeated(layers, 2000) + "B" + repeated("GSR", 1000), layers + "@1"},
      {"a long training of many layers", "B" + repeated(repeated("GS", 80) + "R", 500),
       repeated("GS", 80) + "R@1"},
      {"a call more in every tenth iteration", "B" + repeated(repeated("ABC", 10) + "D", 400),
       "ABC@1"},
      {"one call over and over", repeated("A", 50), "A@0"},
      {"one call over and over, long", repeated("A", 5000), "A@0"},
      {"nothing repeats itself", "ABCDEFGHIJ", "-"},
      {"no calls", "", "-"},
      {"one call", "A", "-"},
  };
  for (const Row& row : rows) {
    const std::string found = period_of(row.letters);
    if (row.name.starts_with("a checkpoint")) {
      EXPECT_EQ(found.substr(0, found.find('@')).size(), 6u) << row.name << ": " << found;
    } else {
      EXPECT_EQ(found, row.period) << row.name;
    }
  }
}

TEST(FindPeriod, KnownStepsDecideBetweenALoopAndTheLoopInside) {
  const std::string micro = "GSGSCT";
  const std::string letters = repeated(repeated(micro, 8) + "R", 12);
  EXPECT_EQ(period_of(letters, 12), repeated(micro, 8) + "R@0");
  EXPECT_EQ(period_of(letters, 96).substr(0, 6), micro);
}

std::vector<size_t> repeats_in(std::string_view letters, std::string_view pattern) {
  const LetterCalls calls(letters);
  return find_repeats(calls.folded(), std::vector<int>(pattern.begin(), pattern.end()));
}

TEST(FindRepeats, TakesThemFromLeftToRightWithoutOverlap) {
  EXPECT_EQ(repeats_in("AAAAABAA", "AA"), (std::vector<size_t>{0, 2, 6}));
  EXPECT_EQ(repeats_in("AAAAABAA", "AB"), (std::vector<size_t>{4}));
  EXPECT_EQ(repeats_in("AAAAABAA", ""), std::vector<size_t>{});
  EXPECT_EQ(repeats_in("", "A"), std::vector<size_t>{});
}

/// Where `pattern` stands in `letters`, looked for letter by letter.
std::vector<size_t> repeats_by_letter(std::string_view letters, std::string_view pattern) {
  std::vector<size_t> begins;
  for (size_t at = letters.find(pattern); at != letters.npos;
       at = letters.find(pattern, at + pattern.size())) {
    begins.push_back(at);
  }
  return begins;
}

TEST(FindRepeats, LoopsHoldTheSameAsTheirCallsOneByOne) {
  const std::string layers = repeated("GS", 4) + "R";
  const std::string rows[] = {
      "B" + repeated(layers, 500) + "C" + repeated(layers, 300) + "GSG",
      repeated(repeated(layers, 10) + "E", 90),
      repeated("GSR", 400) + repeated("SRG", 400) + repeated("G", 400),
      repeated("ABAAB", 300) + repeated("ABA", 300),
      repeated("A", 1001),
  };
  for (const std::string& letters : rows) {
    for (const std::string& pattern :
         {layers, std::string("GS"), std::string("GSRGSR"), std::string("ABAABABAABABAAB"),
          repeated("A", 7), layers + "E" + layers, std::string("EGSGSGSGS")}) {
      EXPECT_EQ(repeats_in(letters, pattern), repeats_by_letter(letters, pattern)) << pattern;
    }
  }
}

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

}  // namespace

}  // namespace ncclog
