#include "base/majority.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(Majority, WhoIsNotHeardCountsAgainstIt) {
  EXPECT_TRUE(is_majority(3, 4));
  EXPECT_FALSE(is_majority(2, 4));
  EXPECT_FALSE(is_majority(3, 8));
}

TEST(Majority, WithoutAllNamesAClearOneIsNeeded) {
  EXPECT_TRUE(is_clear(3, 4));
  EXPECT_FALSE(is_clear(2, 2)) << "two alike may be chance";
  EXPECT_FALSE(is_clear(3, 5));
  EXPECT_TRUE(is_two_thirds(2, 3));
  EXPECT_FALSE(is_two_thirds(1, 1));
  EXPECT_FALSE(is_two_thirds(3, 5));
}

TEST(Majority, OnlyTheFewAreOdd) {
  EXPECT_TRUE(are_few(1, 3));
  EXPECT_TRUE(are_few(1, 1)) << "one of two";
  EXPECT_FALSE(are_few(2, 2));
  EXPECT_TRUE(minority(std::map<int, std::vector<int>>{{1, {0, 1}}, {2, {2, 3}}}).empty());
  EXPECT_EQ(minority(std::map<int, std::vector<int>>{{1, {0, 1, 4}}, {2, {3}}, {3, {2}}}),
            (std::vector<int>{2, 3}));
}

TEST(Majority, CampsStandLargestFirst) {
  const std::map<char, std::map<int, char>> calls = {
      {'a', {{5, 'a'}}}, {'b', {{0, 'b'}, {1, 'b'}}}, {'c', {{3, 'c'}}}};
  const std::vector<Camp<char>> camps = camps_of(calls);
  ASSERT_EQ(camps.size(), 3U);
  EXPECT_EQ(camps[0].call, 'b');
  EXPECT_EQ(camps[1].call, 'c') << "of equals by first member";
  EXPECT_EQ(outvoted(camps, [](size_t agree, size_t) { return is_majority(agree, 3); }),
            (std::vector<int>{3, 5}));
  EXPECT_TRUE(outvoted(camps, is_clear).empty());
}

}  // namespace
}  // namespace ncclog
