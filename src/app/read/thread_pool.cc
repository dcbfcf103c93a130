#include "app/read/thread_pool.h"

#include <algorithm>
#include <utility>

#include "log/event.h"

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

SharedStream::SharedStream(UnitReader& input, const WalkedInput& name, const ReadSettings& settings)
    : name_(name), settings_(settings), lines_(input, may_start_unit) {}

void SharedStream::work(std::span<char> memory, const std::function<void()>& on_more) {
  try {
    while (!merge_.is_given_up() && read_stretch(memory, on_more)) {
    }
  } catch (...) {
    merge_.give_up(std::current_exception());
  }
}

/// False if there was none.
bool SharedStream::read_stretch(std::span<char> memory, const std::function<void()>& on_more) {
  Stretch stretch(lines_, memory);
  if (stretch.is_none()) return false;
  if (stretch.index() == 0 && !stretch.is_last() && on_more) on_more();
  if (!merge_.wait_for(stretch.index())) return false;
  merge_.put(stretch.index(), read_lines(stretch, name_, settings_));
  return true;
}

Workload::Task Workload::next() {
  std::unique_lock lock(mutex_);
  Task task;
  // A unit that somebody reads may still turn out to be a stream to help with, and shards that are
  // merged make room for further units.
  change_.wait(lock, [&] {
    task = find_task();
    return task.unit || task.stream != nullptr || is_over();
  });
  return task;
}

bool Workload::is_over() { return is_given_up_ || (next_ == count_ && reading_ == 0); }

Workload::Task Workload::find_task() {
  if (is_given_up_) return {};
  if (next_ < count_ && merge_.has_room(next_)) {
    ++reading_;
    return {.unit = next_++};
  }
  for (Open& open : open_) {
    if (open.is_over) continue;
    ++open.guests;
    return {.stream = open.stream};
  }
  return {};
}

void Workload::done(uint32_t unit, Shard&& shard) {
  merge_.put(unit, std::move(shard));
  const std::lock_guard lock(mutex_);
  --reading_;
  change_.notify_all();
}

void Workload::open(SharedStream& stream) {
  const std::lock_guard lock(mutex_);
  open_.push_back({.stream = &stream});
  change_.notify_all();
}

void Workload::close(SharedStream& stream) {
  std::unique_lock lock(mutex_);
  if (find(stream) == open_.end()) return;  // It was one stretch: nobody was called to help.
  find(stream)->is_over = true;
  change_.wait(lock, [&] { return find(stream)->guests == 0; });
  open_.erase(find(stream));
}

void Workload::leave(SharedStream& stream) {
  const std::lock_guard lock(mutex_);
  const auto open = find(stream);
  --open->guests;
  open->is_over = true;
  change_.notify_all();
}

void Workload::give_up(std::exception_ptr failure) {
  merge_.give_up(std::move(failure));
  const std::lock_guard lock(mutex_);
  is_given_up_ = true;
  change_.notify_all();
}

std::vector<Workload::Open>::iterator Workload::find(const SharedStream& stream) {
  return std::find_if(open_.begin(), open_.end(),
                      [&](const Open& open) { return open.stream == &stream; });
}

}  // namespace ncclog
