// Where does a process begin its pattern of calls anew?
//
//   AllReduce [G S R] [G S R] [G S R] Broadcast [G S R]   → at 1, three times in a row; at 11, once
//
// Most repeats follow one another without a call between, so they are kept as rows of repeats.

#pragma once

#include <cstddef>
#include <vector>

namespace ncclog {

/// The beginnings of a pattern's repeats, in order, without overlap.
class RepeatPlaces {
 public:
  RepeatPlaces() = default;
  explicit RepeatPlaces(size_t pattern_size) : pattern_size_(pattern_size) {}

  /// One more repeat; behind the end of the last one.
  void add(size_t begin);

  /// The last `count` repeats again, `times` times, each time `distance` calls later.
  void repeat_last(size_t count, size_t distance, size_t times);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Where repeat number `i` begins; `i` is below size().
  size_t operator[](size_t i) const;
  size_t front() const { return rows_.front().begin; }

  /// Repeats that begin before the call with that number, and those that begin there too.
  size_t before(size_t call) const;
  size_t up_to(size_t call) const { return before(call + 1); }

  /// One past the last of the repeats that follow repeat number `i` without a call between.
  size_t row_end(size_t i) const;

 private:
  /// Repeats without a call between.
  struct Row {
    size_t begin = 0;   ///< Of the first one.
    size_t number = 0;  ///< Of the first one, among all.
  };

  size_t row_of(size_t i) const;
  size_t end_of_row(size_t row) const {
    return row + 1 < rows_.size() ? rows_[row + 1].number : size_;
  }

  size_t pattern_size_ = 0;
  size_t size_ = 0;
  std::vector<Row> rows_;
};

}  // namespace ncclog
