// The kept lines of one speaker by what they are: the kind of message, or the pattern they match.
//
//   channel_connected → 812 lines, 256 kept        using_network → 1 line
//
// A speaker prints a few dozen of the hundreds of kinds, one line after the other of another kind,
// and thousands of speakers take turns. So the keys stand side by side, apart from what they lead
// to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "model/record.h"
#include "model/record_limit.h"

namespace ncclog {

/// Lists of records by key, in ascending order of the keys.
class RecordLists {
 public:
  using Entry = std::pair<uint16_t, const RecordList&>;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Entry;

    Iterator(const RecordLists& lists, size_t at) : lists_(&lists), at_(at) {}
    Entry operator*() const { return {lists_->keys_[at_], lists_->lists_[at_]}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const RecordLists* lists_;
    size_t at_;  ///< Into both vectors of *lists_.
  };

  /// The list of `key`; made if there is none. Valid until another one is made.
  RecordList& operator[](uint16_t key);

  /// nullptr if there is none.
  const RecordList* find(uint16_t key) const;

  bool contains(uint16_t key) const { return find(key) != nullptr; }
  bool empty() const { return keys_.empty(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, keys_.size()}; }

  /// Joins what a later stretch of input kept.
  void merge(RecordLists&& later, const RecordLimit& limit = {});

  /// Keeps the first records of each list only, as many as `limit` allows.
  void cut_to(const RecordLimit& limit);

 private:
  std::vector<uint16_t> keys_;     ///< Ascending.
  std::vector<RecordList> lists_;  ///< By place in keys_.
};

}  // namespace ncclog
