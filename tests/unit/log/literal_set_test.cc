#include "log/literal_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

/// All literals in a text, and where they end.
std::set<std::pair<size_t, size_t>> places_in(const LiteralSet& filter, std::string_view text) {
  std::set<std::pair<size_t, size_t>> places;
  filter.any_of(text, [&](size_t number, size_t end) {
    places.emplace(number, end);
    return false;
  });
  return places;
}

/// The numbers of all literals in a text, each once.
std::vector<size_t> all_in(const LiteralSet& filter, std::string_view text) {
  std::set<size_t> numbers;
  for (const auto& [number, end] : places_in(filter, text)) numbers.insert(number);
  return {numbers.begin(), numbers.end()};
}

/// A set that searches with tables from the first text on.
LiteralSet with_tables(std::vector<std::string> literals) { return LiteralSet(literals, 0); }

TEST(LiteralSet, FindsALiteralWhereverItStands) {
  const std::vector<std::string> needles = {"NCCL", "%|", "\x1b", "torch.distributed.elastic", "é"};
  const LiteralSet filter = with_tables(needles);
  for (size_t number = 0; number < needles.size(); ++number) {
    for (size_t before = 0; before < 80; ++before) {
      for (const size_t behind : {0, 1, 2, 3, 30, 70}) {
        const std::string text =
            std::string(before, '.') + needles[number] + std::string(behind, '.');
        EXPECT_EQ(all_in(filter, text), std::vector<size_t>{number}) << text;
      }
    }
  }
}

TEST(LiteralSet, FindsNothingInTextThatHoldsPartsOfLiterals) {
  const LiteralSet filter = with_tables({"NCCL INFO", "global_step=", "%|"});
  for (const std::string_view text : {"", "N", "NCCL INF", "CCL INFO", "global_step", "% |", "%"}) {
    EXPECT_TRUE(all_in(filter, text).empty()) << text;
  }
}

TEST(LiteralSet, ClassesStandForTheirBytes) {
  const LiteralSet filter = with_tables({"\x01 [\x01", "[\x02 ", "\x03# "});
  const std::vector<std::pair<std::string_view, bool>> rows = {
      {"7 [3", true},  {"x [3", false}, {"7 [x", false},  {"[E ", true},         {"[X ", false},
      {"~# ls", true}, {" # x", false}, {"\t# x", false}, {"\x01 [\x01", false},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(!all_in(filter, text).empty(), expected) << text;
  }
}

TEST(LiteralSet, FindsEveryLiteralThatStandsAtAPlace) {
  const LiteralSet filter = with_tables({"global_step=", "/global_step=", "ab", "abab"});
  EXPECT_EQ(all_in(filter, "x global_step=1"), (std::vector<size_t>{0}));
  EXPECT_EQ(all_in(filter, "epoch=0/global_step=1"), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(all_in(filter, "ababab ab"), (std::vector<size_t>{2, 3}));
}

TEST(LiteralSet, StopsWhereItsVisitorSaysSo) {
  const LiteralSet filter = with_tables({"ab", "x"});
  int visits = 0;
  EXPECT_TRUE(filter.any_of("ab ab", [&](size_t, size_t) { return ++visits == 1; }));
  EXPECT_EQ(visits, 1);
  EXPECT_FALSE(filter.any_of("ab ab", [](size_t, size_t) { return false; }));
}

TEST(LiteralSet, SaysWhereLiteralsEnd) {
  const std::set<std::pair<size_t, size_t>> places = {{0, 2}, {0, 6}, {1, 4}};
  EXPECT_EQ(places_in(with_tables({"ab", "x"}), "ab xab"), places);
}

TEST(LiteralSet, FindsTheSameOneByOneAndByTables) {
  const std::vector<std::string> literals = {
      "ab", "bca", "\x01 [", "\x1b", "cab:x", std::string(1, '\0'), "\x03:", "a\x01", "x:1 [ab"};
  const LiteralSet by_tables = with_tables(literals);
  const LiteralSet one_by_one(literals, SIZE_MAX);
  std::mt19937 random(11);
  constexpr std::string_view kBytes("abcx:1 [\x1b\0\xe9", 11);
  for (int round = 0; round < 3000; ++round) {
    std::string text(random() % 80, ' ');
    for (char& c : text) c = kBytes[random() % kBytes.size()];
    EXPECT_EQ(places_in(by_tables, text), places_in(one_by_one, text)) << text;
  }
}

TEST(LiteralSet, SetsOfSeveralSizesAreSearchedInTurn) {
  std::vector<std::string> many;
  for (int i = 0; i < 200; ++i) many.push_back("literal " + std::to_string(1000 + i));
  for (int round = 0; round < 3; ++round) {
    const LiteralSet small = with_tables({"ab"});
    const LiteralSet large = with_tables(many);
    EXPECT_EQ(all_in(small, "xab"), (std::vector<size_t>{0}));
    EXPECT_EQ(all_in(large, "a literal 1150"), (std::vector<size_t>{150}));
    EXPECT_EQ(all_in(small, "xab"), (std::vector<size_t>{0}));
  }
}

TEST(BytePairs, RuleOutNothingThatStandsInTheText) {
  const std::string text = "node-a:7:7 [0] NCCL INFO \xff\x80 step";
  const BytePairs pairs(text);
  for (size_t begin = 0; begin < text.size(); ++begin) {
    for (size_t size = 0; size <= text.size() - begin; ++size)
      EXPECT_TRUE(pairs.may_hold(std::string_view(text).substr(begin, size)));
  }
  EXPECT_FALSE(pairs.may_hold("NCCL WARN"));
  EXPECT_TRUE(pairs.may_hold("q")) << "a byte is no pair";
}

}  // namespace
}  // namespace ncclog
