// Counts per key in bounded memory, exactly mergeable.
//
// Only the smallest kLimit keys are kept; calls with other keys are added up in `other`. A key
// among the smallest of the whole is among the smallest of every part that has it, so its count is
// never lost: merging parts in any grouping gives the same result as counting the whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace ncclog {

template <typename Key, size_t kLimit>
struct BoundedCounts {
  std::map<Key, uint64_t> counts;
  uint64_t other = 0;  ///< Counted under keys that are not kept.

  void add(const Key& key, uint64_t n = 1) {
    if (counts.size() == kLimit && !(key < std::prev(counts.end())->first) &&
        std::prev(counts.end())->first < key) {
      other += n;
      return;
    }
    counts[key] += n;
    if (counts.size() > kLimit) {
      const auto last = std::prev(counts.end());
      other += last->second;
      counts.erase(last);
    }
  }

  void merge(const BoundedCounts& later) {
    for (const auto& [key, n] : later.counts) add(key, n);
    other += later.other;
  }

  bool operator==(const BoundedCounts&) const = default;
};

}  // namespace ncclog
