// Shards come when they are finished, and are joined in the order of what they were read from.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>

#include "model/shard.h"

namespace ncclog {

/// Joins the shards 0, 1, 2, … whatever the order in which several threads put them. Invariant:
/// merged_ holds exactly those before next_; all keys of waiting_ are behind it.
class OrderedMerge {
 public:
  /// Waits until `index` is near enough to what is merged, so that shards do not pile up behind a
  /// slow one. False if the whole is given up.
  bool wait_for(uint32_t index);

  /// Whether wait_for(index) would return at once.
  bool has_room(uint32_t index);

  void put(uint32_t index, Shard&& shard);

  /// `take` will throw this, unless there was a failure before.
  void give_up(std::exception_ptr failure);

  bool is_given_up();

  /// The whole, once all have been put. Rethrows a failure.
  Shard take();

 private:
  static constexpr uint32_t kAhead = 64;

  std::mutex mutex_;
  std::condition_variable progress_;
  uint32_t next_ = 0;
  Shard merged_;
  std::map<uint32_t, Shard> waiting_;
  std::exception_ptr failure_;
};

}  // namespace ncclog
