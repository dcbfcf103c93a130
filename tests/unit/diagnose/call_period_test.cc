#include "diagnose/call_period.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// The pattern that calls, one letter each, repeat, as letters; "-" if none.
std::string period_of(std::string_view letters, size_t steps = 0) {
  CallTape tape;
  std::vector<int> sequence;
  for (const char c : letters) {
    tape.add(0, {std::string_view(&c, 1), 1, 7, 0, 0});
    sequence.push_back(c);
  }
  const CallPeriod period = find_period(sequence, tape, steps);
  if (period.pattern.empty()) return "-";
  return std::string(period.pattern.begin(), period.pattern.end()) + "@" +
         std::to_string(period.first);
}

TEST(CallPeriod, IsWhatExplainsNearlyAllCalls) {
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
      {"one call over and over", repeated("A", 50), "A@0"},
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

TEST(CallPeriod, KnownStepsDecideBetweenALoopAndTheLoopInside) {
  const std::string micro = "GSGSCT";
  const std::string letters = repeated(repeated(micro, 8) + "R", 12);
  EXPECT_EQ(period_of(letters, 12), repeated(micro, 8) + "R@0");
  EXPECT_EQ(period_of(letters, 96).substr(0, 6), micro);
}

TEST(FindRepeats, TakesThemFromLeftToRightWithoutOverlap) {
  const std::vector<int> sequence = {1, 1, 1, 1, 1, 2, 1, 1};
  EXPECT_EQ(find_repeats(sequence, std::vector<int>{1, 1}), (std::vector<size_t>{0, 2, 6}));
  EXPECT_EQ(find_repeats(sequence, std::vector<int>{1, 2}), (std::vector<size_t>{4}));
  EXPECT_EQ(find_repeats(sequence, std::vector<int>{}), std::vector<size_t>{});
  EXPECT_EQ(find_repeats({}, std::vector<int>{1}), std::vector<size_t>{});
}

}  // namespace
}  // namespace ncclog
