// Sums per key in bounded memory, exactly mergeable.
//
//   smallest 2: "Broadcast" 1, "AllReduce" 7, "AllGather" 3   → AllGather 3, AllReduce 7; other 1
//
// Only the smallest keys are kept; what belongs to others is added up. A key among the smallest of
// the whole is among the smallest of every part that has it, so its sum is never lost: merging
// parts in any grouping gives the same result as adding the whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>

namespace ncclog {

/// What a sum that is not kept adds to BoundedMap::other; other sums have a count_of of their own.
constexpr uint64_t count_of(uint64_t count) { return count; }

template <typename Key, typename Sum, size_t kMost>
struct BoundedMap {
  std::map<Key, Sum, std::less<>> all;  ///< At most kLimit.
  uint64_t other = 0;                   ///< count_of what has keys that are not kept.

  static constexpr size_t kLimit = kMost;

  /// What `key` has, which may be a view of what is kept; nullptr if there is no room for it.
  template <typename Like>
  Sum* find_or_add(const Like& key) {
    const auto known = all.find(key);
    if (known != all.end()) return &known->second;
    if (all.size() == kLimit) {
      const auto last = std::prev(all.end());
      if (last->first < key) return nullptr;
      other += count_of(last->second);
      all.erase(last);
    }
    return &all.emplace(Key(key), Sum()).first->second;
  }

  template <typename Like>
  void add(const Like& key, const Sum& sum) {
    if (Sum* const known = find_or_add(key)) {
      *known += sum;
    } else {
      other += count_of(sum);
    }
  }

  void merge(const BoundedMap& later) {
    for (const auto& [key, sum] : later.all) add(key, sum);
    other += later.other;
  }

  bool operator==(const BoundedMap&) const = default;
};

}  // namespace ncclog
