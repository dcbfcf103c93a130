#include "app/ordered_merge.h"

#include <utility>

namespace ncclog {

bool OrderedMerge::wait_for(uint32_t index) {
  std::unique_lock lock(mutex_);
  progress_.wait(lock, [&] { return failure_ != nullptr || index < next_ + kAhead; });
  return failure_ == nullptr;
}

bool OrderedMerge::has_room(uint32_t index) {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr || index < next_ + kAhead;
}

void OrderedMerge::put(uint32_t index, Shard&& shard) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(index, std::move(shard));
  while (!waiting_.empty() && waiting_.begin()->first == next_) {
    merged_.merge(std::move(waiting_.begin()->second));
    waiting_.erase(waiting_.begin());
    ++next_;
  }
  progress_.notify_all();
}

void OrderedMerge::give_up(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (failure_ == nullptr) failure_ = std::move(failure);
  progress_.notify_all();
}

bool OrderedMerge::is_given_up() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

Shard OrderedMerge::take() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  return std::move(merged_);
}

}  // namespace ncclog
