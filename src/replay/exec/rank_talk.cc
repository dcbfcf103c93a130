#include "replay/exec/rank_talk.h"

#include <algorithm>

namespace ncclog {

void RankTalk::post(RankMessage message) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(has_progress_, false)) posted_.push_back(std::move(progress_));
  posted_.push_back(std::move(message));
}

void RankTalk::post_progress(RankMessage progress) {
  const std::lock_guard lock(mutex_);
  has_progress_ = true;
  progress_ = std::move(progress);
}

bool RankTalk::await(ReplayPhase phase, std::map<int, std::string>* ids) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_aborted_) return false;
    const auto order = std::find_if(heard_.begin(), heard_.end(), [phase](const RunOrder& heard) {
      return heard.phase == phase;
    });
    if (order != heard_.end()) {
      if (ids != nullptr) *ids = order->ids;
      return true;
    }
    changed_.wait(lock);
  }
}

void RankTalk::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

void RankTalk::await_end(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return has_ended_; });
}

std::vector<RankMessage> RankTalk::take_posted(bool with_progress) {
  const std::lock_guard lock(mutex_);
  std::vector<RankMessage> taken = std::exchange(posted_, {});
  if (with_progress && std::exchange(has_progress_, false)) taken.push_back(std::move(progress_));
  return taken;
}

void RankTalk::hear(RunOrder order) {
  const std::lock_guard lock(mutex_);
  if (order.kind == RunOrder::Kind::Abort) is_aborted_ = true;
  heard_.push_back(std::move(order));
  changed_.notify_all();
}

}  // namespace ncclog
