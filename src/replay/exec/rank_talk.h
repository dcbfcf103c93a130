// What the two threads of a rank tell each other.
//
//   one works:  post({"at":"enqueue"}), await(Enqueue), progress: 28 calls entered, 27 completed
//   one serves: sends what was posted, hears {"go":"enqueue"}, {"go":"abort"}
//
// The serving thread never waits for the working one, which may be inside NCCL.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "replay/exec/worker_protocol.h"

namespace ncclog {

/// Invariant: every member is used under the lock.
class RankTalk {
 public:
  /// Of the working thread: a message to be sent, behind those before.
  void post(RankMessage message);

  /// Of the working thread: replaces what is not yet sent of an earlier one.
  void post_progress(RankMessage progress);

  /// Of the working thread: waits for "go". False: it is "abort". The ids come with Init.
  bool await(ReplayPhase phase, std::map<int, std::string>* ids = nullptr);

  /// Of the working thread: nothing follows.
  void end();

  /// Of the serving thread: waits so long for that.
  void await_end(std::chrono::milliseconds patience);

  /// Of the serving thread: what is to be sent now. Progress is left there unless `with_progress`.
  std::vector<RankMessage> take_posted(bool with_progress);

  /// Of the serving thread.
  void hear(RunOrder order);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<RankMessage> posted_;
  bool has_progress_ = false;
  RankMessage progress_;
  std::vector<RunOrder> heard_;
  bool is_aborted_ = false;
  bool has_ended_ = false;
};

}  // namespace ncclog
