// Which of the things that a list holds has this hash? An index over a list that only grows.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ncclog {

/// Hashes and what has them, found without touching a T whose hash is another. The things belong to
/// the caller, must not move, and are compared by the caller.
template <typename T>
class PlaceTable {
 public:
  /// The T with that hash for which `is_wanted(T&)` holds; nullptr if there is none.
  template <typename IsWanted>
  T* find(uint64_t hash, IsWanted is_wanted) const {
    if (slots_.empty()) return nullptr;
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].thing != nullptr; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && is_wanted(*slot.thing)) return slot.thing;
    }
    return nullptr;
  }

  /// Adds a thing that is not in the table.
  void add(uint64_t hash, T& thing) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    enter({hash, &thing});
    ++size_;
  }

  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t hash = 0;
    T* thing = nullptr;
  };

  void enter(const Slot& slot) {
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].thing != nullptr) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(std::max<size_t>(8, 2 * slots_.size()));
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.thing != nullptr) enter(slot);
    }
  }

  std::vector<Slot> slots_;  ///< A power of two of them, at least half of them free.
  size_t size_ = 0;
};

}  // namespace ncclog
