#include "log/needle_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

/// The numbers of all needles in a text, in the order in which they are visited.
std::vector<size_t> all_in(const NeedleFilter& filter, std::string_view text) {
  std::vector<size_t> numbers;
  filter.any_of(text, [&](size_t number) {
    numbers.push_back(number);
    return false;
  });
  return numbers;
}

TEST(NeedleFilter, FindsANeedleWhereverItStands) {
  const std::vector<std::string> needles = {"NCCL", "%|", "\x1b", "torch.distributed.elastic", "é"};
  const NeedleFilter filter(needles);
  for (size_t number = 0; number < needles.size(); ++number) {
    for (size_t before = 0; before < 80; ++before) {
      for (const size_t behind : {0, 1, 2, 3, 30, 70}) {
        const std::string text =
            std::string(before, '.') + needles[number] + std::string(behind, '.');
        EXPECT_EQ(all_in(filter, text), std::vector<size_t>{number}) << text;
        const size_t place = filter.next(text, 0);
        EXPECT_GE(place, before) << text;
        EXPECT_LT(place, before + needles[number].size()) << text;
      }
    }
  }
}

TEST(NeedleFilter, FindsNothingInTextThatHoldsPartsOfNeedles) {
  const NeedleFilter filter({"NCCL INFO", "global_step=", "%|"});
  for (const std::string_view text : {"", "N", "NCCL INF", "CCL INFO", "global_step", "% |", "%"}) {
    EXPECT_TRUE(all_in(filter, text).empty()) << text;
  }
}

TEST(NeedleFilter, ClassesStandForTheirBytes) {
  const NeedleFilter filter({"\x01 [\x01", "[\x02 ", "\x03# "});
  const std::vector<std::pair<std::string_view, bool>> rows = {
      {"7 [3", true},  {"x [3", false}, {"7 [x", false},  {"[E ", true},         {"[X ", false},
      {"~# ls", true}, {" # x", false}, {"\t# x", false}, {"\x01 [\x01", false},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(!all_in(filter, text).empty(), expected) << text;
  }
}

TEST(NeedleFilter, FindsEveryNeedleThatStandsAtAPlace) {
  const NeedleFilter filter({"global_step=", "/global_step=", "ab", "abab"});
  EXPECT_EQ(all_in(filter, "x global_step=1"), (std::vector<size_t>{0}));
  std::vector<size_t> both = all_in(filter, "epoch=0/global_step=1");
  std::sort(both.begin(), both.end());
  EXPECT_EQ(both, (std::vector<size_t>{0, 1}));
  const std::vector<size_t> many = all_in(filter, "ababab ab");
  EXPECT_EQ(std::count(many.begin(), many.end(), 2u), 4);
  EXPECT_EQ(std::count(many.begin(), many.end(), 3u), 2);
}

TEST(NeedleFilter, IsTheSameWithoutVectors) {
  const NeedleFilter filter({"ab", "bca", "\x01 [", "\x1b", "cab:x", std::string(1, '\0')});
  std::mt19937 random(7);
  constexpr std::string_view kBytes("abcx:1 [\n\x1b\0", 12);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 200, ' ');
    for (char& c : text) c = kBytes[random() % kBytes.size()];
    for (size_t at = 0; at < text.size(); ++at) {
      EXPECT_EQ(filter.next(text, at), filter.next_plain(text, at)) << text;
    }
  }
}

/// How often each needle stands in `text`, by trying all of them at every place.
std::vector<size_t> counted_one_by_one(const std::vector<std::string>& needles,
                                       std::string_view text) {
  const auto fits = [](char wanted, char c) {
    if (wanted == kAnyDigit) return c >= '0' && c <= '9';
    if (wanted == kNonBlank) return c != ' ' && c != '\t';
    return wanted == c;
  };
  std::vector<size_t> counts;
  for (const std::string& needle : needles) {
    size_t count = 0;
    for (size_t at = 0; at + needle.size() <= text.size(); ++at) {
      count += std::equal(needle.begin(), needle.end(), text.begin() + at, fits) ? 1 : 0;
    }
    counts.push_back(count);
  }
  return counts;
}

TEST(NeedleFilter, FindsAsMuchAsTryingAllNeedlesAtEveryPlace) {
  const std::vector<std::string> needles = {
      "ab", "bca", "\x01 [", "\x1b", "cab:x", std::string(1, '\0'), "\x03:", "a\x01", "x:1 [ab"};
  const NeedleFilter filter(needles);
  std::mt19937 random(11);
  constexpr std::string_view kBytes("abcx:1 [\x1b\0\xe9", 11);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 80, ' ');
    for (char& c : text) c = kBytes[random() % kBytes.size()];
    std::vector<size_t> counts(needles.size());
    for (const size_t number : all_in(filter, text)) ++counts[number];
    EXPECT_EQ(counts, counted_one_by_one(needles, text)) << text;
  }
}

TEST(NeedleFilter, GoesOnFromAPlaceThatNextGave) {
  const NeedleFilter filter({"ab", "global_step="});
  const std::string text = "ab, ab, global_step=3";
  const size_t second = filter.next(text, 1);
  ASSERT_EQ(second, 4u);
  std::vector<size_t> numbers;
  filter.any_from(text, second, [&](size_t number) {
    numbers.push_back(number);
    return false;
  });
  EXPECT_EQ(numbers, (std::vector<size_t>{0, 1}));
  EXPECT_TRUE(filter.any_from(text, second, [](size_t number) { return number == 1; }));
}

}  // namespace
}  // namespace ncclog
