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

void RecordLists::merge(RecordLists&& later, const RecordLimit& limit) {
  if (empty()) {
    *this = std::move(later);
    return;
  }
  for (size_t i = 0; i < later.keys_.size(); ++i) {
    const uint16_t key = later.keys_[i];
    (*this)[key].merge(std::move(later.lists_[i]), limit.of(key));
  }
}

void RecordLists::cut_to(const RecordLimit& limit) {
  for (size_t i = 0; i < keys_.size(); ++i) lists_[i].cut_to(limit.of(keys_[i]));
}

}  // namespace ncclog
