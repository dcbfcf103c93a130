#include "app/workload.h"

#include <algorithm>
#include <utility>

namespace ncclog {

Workload::Task Workload::next() {
  std::unique_lock lock(mutex_);
  Task task;
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
  if (find(stream) == open_.end()) return;
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
