#include "diagnose/repeat_places.h"

#include <algorithm>

namespace ncclog {

void RepeatPlaces::add(size_t begin) {
  const bool follows =
      !rows_.empty() && rows_.back().begin + (size_ - rows_.back().number) * pattern_size_ == begin;
  if (!follows) rows_.push_back({begin, size_});
  ++size_;
}

void RepeatPlaces::repeat_last(size_t count, size_t distance, size_t times) {
  if (count == 0) return;
  const bool in_a_row = rows_.back().number + count <= size_ && count * pattern_size_ == distance;
  if (in_a_row) {
    size_ += count * times;
    return;
  }
  const size_t first = size_ - count;
  for (size_t i = 0; i < count * times; ++i) add((*this)[first + i] + distance);
}

size_t RepeatPlaces::row_of(size_t i) const {
  const auto next =
      std::upper_bound(rows_.begin(), rows_.end(), i,
                       [](size_t number, const Row& row) { return number < row.number; });
  return static_cast<size_t>(next - rows_.begin()) - 1;
}

size_t RepeatPlaces::operator[](size_t i) const {
  const Row& row = rows_[row_of(i)];
  return row.begin + (i - row.number) * pattern_size_;
}

size_t RepeatPlaces::before(size_t call) const {
  const auto next =
      std::lower_bound(rows_.begin(), rows_.end(), call,
                       [](const Row& row, size_t number) { return row.begin < number; });
  if (next == rows_.begin()) return 0;
  const auto row = static_cast<size_t>(next - rows_.begin()) - 1;
  const size_t begun = (call - rows_[row].begin + pattern_size_ - 1) / pattern_size_;
  return std::min(rows_[row].number + begun, end_of_row(row));
}

size_t RepeatPlaces::row_end(size_t i) const { return end_of_row(row_of(i)); }

}  // namespace ncclog
