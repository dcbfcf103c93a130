#include "diagnose/repeat_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ncclog {
namespace {

/// Every question about the places has the answer that a plain list gives.
void expect_same(const RepeatPlaces& places, const std::vector<size_t>& begins,
                 size_t pattern_size) {
  ASSERT_EQ(places.size(), begins.size());
  for (size_t i = 0; i < begins.size(); ++i) {
    EXPECT_EQ(places[i], begins[i]) << i;
    size_t end = i + 1;
    while (end < begins.size() && begins[end] == begins[end - 1] + pattern_size) ++end;
    EXPECT_EQ(places.row_end(i), end) << i;
  }
  const size_t last = begins.empty() ? 0 : begins.back();
  for (size_t call = 0; call <= last + 2 * pattern_size; ++call) {
    const auto before = std::lower_bound(begins.begin(), begins.end(), call) - begins.begin();
    const auto up_to = std::upper_bound(begins.begin(), begins.end(), call) - begins.begin();
    EXPECT_EQ(places.before(call), static_cast<size_t>(before)) << call;
    EXPECT_EQ(places.up_to(call), static_cast<size_t>(up_to)) << call;
  }
}

TEST(RepeatPlaces, AnswerAsAListDoes) {
  const std::vector<size_t> rows[] = {
      {}, {4}, {0, 3, 6, 9}, {2, 5, 8, 12, 15, 19, 30, 33, 36, 39}, {1, 5, 9, 13}};
  for (const std::vector<size_t>& begins : rows) {
    RepeatPlaces places(3);
    for (const size_t begin : begins) places.add(begin);
    expect_same(places, begins, 3);
  }
}

TEST(RepeatPlaces, RepeatWhatCameLast) {
  RepeatPlaces in_a_row(3);
  in_a_row.add(7);
  in_a_row.add(10);
  in_a_row.repeat_last(2, 6, 2);
  expect_same(in_a_row, {7, 10, 13, 16, 19, 22}, 3);
  in_a_row.repeat_last(1, 3, 1);
  expect_same(in_a_row, {7, 10, 13, 16, 19, 22, 25}, 3);
  RepeatPlaces apart(3);
  apart.add(7);
  apart.add(10);
  apart.repeat_last(2, 8, 2);
  expect_same(apart, {7, 10, 15, 18, 23, 26}, 3);
  apart.repeat_last(0, 100, 5);
  expect_same(apart, {7, 10, 15, 18, 23, 26}, 3);
}

}  // namespace
}  // namespace ncclog
