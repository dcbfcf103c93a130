// A run without processes: all ranks are threads of this one, and nothing but the board below
// coordinates them. For tests of the program itself, where nothing is expected to hang.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "replay/exec/worker_protocol.h"

namespace ncclog {

/// What the coordinator of worker_protocol.h does, for ranks of one process: all go on when all
/// have come; the first error, or the end of the patience, aborts all. May be used by all threads.
class LocalBoard {
 public:
  /// `patience`: how long the whole run may take.
  LocalBoard(size_t nranks, std::chrono::milliseconds patience);

  void say(size_t rank, const RankMessage& message);

  /// Waits so long for an order to that rank; nullopt: none came.
  std::optional<RunOrder> hear(size_t rank, std::chrono::milliseconds patience);

  /// The first error; empty: none.
  std::string error() const;

  /// By rank, what was said with Teardown.
  std::vector<Verification> verified() const;

 private:
  void order_all(const RunOrder& order);
  void fail(const std::string& error);

  mutable std::mutex mutex_;
  std::condition_variable ordered_;
  std::chrono::steady_clock::time_point end_;
  std::vector<std::vector<RunOrder>> orders_;  ///< By rank; not yet heard.
  std::map<ReplayPhase, size_t> arrived_;
  std::map<int, std::string> ids_;
  std::vector<Verification> verified_;
  std::string error_;
};

}  // namespace ncclog
