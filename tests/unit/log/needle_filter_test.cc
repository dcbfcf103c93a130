#include "log/needle_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

/// Places and numbers of what `next` finds, in order.
template <typename Next>
std::vector<std::pair<size_t, size_t>> all_found(std::string_view text, Next next) {
  std::vector<std::pair<size_t, size_t>> all;
  for (NeedleFilter::Found found = next(text, 0); found.place < text.size();
       found = next(text, found.next)) {
    all.emplace_back(found.place, found.number);
  }
  return all;
}

std::vector<std::pair<size_t, size_t>> all_found(const NeedleFilter& filter,
                                                 std::string_view text) {
  return all_found(text, [&](std::string_view all, size_t from) { return filter.next(all, from); });
}

TEST(NeedleFilter, FindsANeedleWhereverItStands) {
  const std::vector<std::string> needles = {"NCCL", "%|", "\x1b", "torch.distributed.elastic", "é"};
  const NeedleFilter filter(needles);
  for (size_t number = 0; number < needles.size(); ++number) {
    for (size_t before = 0; before < 80; ++before) {
      for (const size_t behind : {0, 1, 2, 3, 30, 70}) {
        const std::string text =
            std::string(before, '.') + needles[number] + std::string(behind, '.');
        const auto found = filter.next(text, 0);
        EXPECT_EQ(std::pair(found.place, found.number), std::pair(before, number)) << text;
      }
    }
  }
}

TEST(NeedleFilter, FindsNothingInTextThatHoldsPartsOfNeedles) {
  const NeedleFilter filter({"NCCL INFO", "global_step=", "%|"});
  for (const std::string_view text : {"", "N", "NCCL INF", "CCL INFO", "global_step", "% |", "%"}) {
    EXPECT_TRUE(all_found(filter, text).empty()) << text;
  }
}

TEST(NeedleFilter, ClassesStandForTheirBytes) {
  const NeedleFilter filter({"\x01 [\x01", "[\x02 ", "\x03# "});
  const std::vector<std::pair<std::string_view, bool>> rows = {
      {"7 [3", true},  {"x [3", false}, {"7 [x", false},  {"[E ", true},         {"[X ", false},
      {"~# ls", true}, {" # x", false}, {"\t# x", false}, {"\x01 [\x01", false},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(!all_found(filter, text).empty(), expected) << text;
  }
}

TEST(NeedleFilter, GoesOnBehindWhatItFound) {
  const NeedleFilter filter({"ab", "abab"});
  std::vector<size_t> places;
  for (const auto& [place, number] : all_found(filter, "ababab ab")) places.push_back(place);
  EXPECT_EQ(places, (std::vector<size_t>{0, 2, 4, 7}));
}

TEST(NeedleFilter, IsTheSameWithoutVectors) {
  const NeedleFilter filter({"ab", "bca", "\x01 [", "\x1b", "cab:x", std::string(1, '\0')});
  std::mt19937 random(7);
  constexpr std::string_view kBytes("abcx:1 [\n\x1b\0", 12);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 200, ' ');
    for (char& c : text) c = kBytes[random() % kBytes.size()];
    const auto plain = all_found(
        text, [&](std::string_view all, size_t from) { return filter.next_plain(all, from); });
    EXPECT_EQ(all_found(filter, text), plain) << text;
  }
}

}  // namespace
}  // namespace ncclog
