#include "model/record_lists.h"

#include <algorithm>

namespace ncclog {

RecordList& RecordLists::operator[](uint16_t key) {
  const auto place = std::lower_bound(keys_.begin(), keys_.end(), key);
  const auto list = lists_.begin() + (place - keys_.begin());
  if (place != keys_.end() && *place == key) return *list;
  keys_.insert(place, key);
  return *lists_.emplace(list);
}

const RecordList* RecordLists::find(uint16_t key) const {
  const auto place = std::lower_bound(keys_.begin(), keys_.end(), key);
  if (place == keys_.end() || *place != key) return nullptr;
  return &lists_[static_cast<size_t>(place - keys_.begin())];
}

void RecordLists::merge(RecordLists&& later, size_t most) {
  if (empty()) {
    *this = std::move(later);
    return;
  }
  for (size_t i = 0; i < later.keys_.size(); ++i) {
    (*this)[later.keys_[i]].merge(std::move(later.lists_[i]), most);
  }
}

}  // namespace ncclog
