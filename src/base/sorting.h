// Sorting what is mostly in order already, as ranks, hosts and lines come from most logs, and what
// lies in the middle of numbers.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace ncclog {

/// As std::ranges::stable_sort, but moves nothing where all is in order.
template <typename Range, typename Less = std::ranges::less, typename Projection = std::identity>
void sort_unless_sorted(Range& range, Less less = {}, Projection projection = {}) {
  if (!std::ranges::is_sorted(range, less, projection))
    std::ranges::stable_sort(range, less, projection);
}

/// The same, and drops repeats.
template <typename T>
void sort_and_drop_repeats(std::vector<T>& values) {
  sort_unless_sorted(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// The median of the values, which are moved about; 0 of none.
inline double median_of(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// The `share` quantile (0 to 1) of sorted values, by nearest rank; 0 of none.
inline double quantile_of_sorted(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<size_t>(std::clamp(place, 0.0, double(sorted.size() - 1)))];
}

}  // namespace ncclog
