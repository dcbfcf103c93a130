// Where in a list does what has this hash stand? An index over a list that only grows.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ncclog {

/// Hashes and places, found without touching the list where the hash is unknown. The list is the
/// caller's, who says whether a place holds what is looked for.
class PlaceTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The place with that hash for which `is_wanted(place)` holds; kNone if there is none.
  template <typename IsWanted>
  uint32_t find(uint64_t hash, IsWanted is_wanted) const {
    if (slots_.empty()) return kNone;
    const auto mark = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.place == kNone) return kNone;
      if (slot.mark == mark && is_wanted(slot.place)) return slot.place;
    }
  }

  /// Adds a place that is not in the table. Not for kNone.
  void add(uint64_t hash, uint32_t place) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    enter({static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(hash), place});
    ++size_;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint32_t mark = 0;  ///< The upper half of the hash.
    uint32_t low = 0;   ///< The lower one, by which it is placed.
    uint32_t place = kNone;
  };

  void enter(const Slot& slot) {
    size_t at = slot.low & (slots_.size() - 1);
    while (slots_[at].place != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(std::max<size_t>(8, 2 * slots_.size()));
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.place != kNone) enter(slot);
    }
  }

  std::vector<Slot> slots_;  ///< A power of two of them, at least half of them free.
  size_t size_ = 0;
};

}  // namespace ncclog
