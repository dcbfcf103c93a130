#include "base/sorting.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ncclog {
namespace {

using Named = std::vector<std::pair<int, std::string>>;

TEST(Sorting, KeepsTheOrderOfEquals) {
  Named values = {{2, "a"}, {1, "b"}, {2, "c"}, {1, "d"}};
  sort_unless_sorted(values, {}, &Named::value_type::first);
  EXPECT_EQ(values, (Named{{1, "b"}, {1, "d"}, {2, "a"}, {2, "c"}}));
}

TEST(Sorting, MovesNothingThatIsInOrder) {
  struct Watched {
    int value = 0;
    bool was_moved = false;

    explicit Watched(int number) : value(number) {}
    Watched(Watched&& other) noexcept : value(other.value), was_moved(true) {}
    Watched& operator=(Watched&& other) noexcept {
      value = other.value;
      was_moved = true;
      return *this;
    }
  };
  std::vector<Watched> values;
  values.reserve(3);
  for (const int number : {1, 1, 7}) values.emplace_back(number);
  sort_unless_sorted(values, {}, &Watched::value);
  for (const Watched& value : values) EXPECT_FALSE(value.was_moved) << value.value;
}

TEST(Sorting, DropsRepeatsWhereverTheyStand) {
  std::vector<std::string> values = {"b", "a", "b", "", "a"};
  sort_and_drop_repeats(values);
  EXPECT_EQ(values, (std::vector<std::string>{"", "a", "b"}));
}

TEST(Sorting, TheMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  std::vector<double> odd = {5, 1, 3};
  std::vector<double> even = {7, 1, 3, 4};
  std::vector<double> none;
  EXPECT_EQ(median_of(odd), 3);
  EXPECT_EQ(median_of(even), 3.5);
  EXPECT_EQ(median_of(none), 0);
}

TEST(Sorting, AQuantileIsOneOfTheValues) {
  const std::vector<double> sorted = {1, 2, 3, 4};
  EXPECT_EQ(quantile_of_sorted(sorted, 0), 1);
  EXPECT_EQ(quantile_of_sorted(sorted, 0.5), 2);
  EXPECT_EQ(quantile_of_sorted(sorted, 0.99), 4);
  EXPECT_EQ(quantile_of_sorted({}, 0.5), 0);
}

}  // namespace
}  // namespace ncclog
