// Sorting what is mostly in order already: ranks, hosts and lines come so from most logs.

#pragma once

#include <algorithm>
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

}  // namespace ncclog
