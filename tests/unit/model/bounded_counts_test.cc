#include "model/bounded_counts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ncclog {
namespace {

using Counts = BoundedCounts<int, 4>;

Counts count(const std::vector<int>& keys, size_t begin, size_t end) {
  Counts counts;
  for (size_t i = begin; i < end; ++i) counts.add(keys[i]);
  return counts;
}

TEST(BoundedCounts, KeepsTheSmallestKeysAndCountsTheRest) {
  Counts counts = count({9, 1, 8, 2, 7, 3, 1, 9}, 0, 8);
  EXPECT_EQ(counts.counts, (std::map<int, uint64_t>{{1, 2}, {2, 1}, {3, 1}, {7, 1}}));
  EXPECT_EQ(counts.other, 3u);
}

TEST(BoundedCounts, MergingPartsInAnyGroupingGivesTheCountsOfTheWhole) {
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

}  // namespace
}  // namespace ncclog
