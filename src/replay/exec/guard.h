// One rank of a run that another host coordinates.
//
//   coordinator (task 0) ⇄ guard (task 1) ⇄ rank 1
//
// The guard passes every line on and watches its process as the coordinator watches those of its
// own host: after "abort", or if the coordinator is gone, the process has the same graces, and is
// then terminated and killed. So no host needs another one to be rid of its rank.

#pragma once

#include <optional>
#include <string>

#include "replay/exec/coordinator.h"

namespace ncclog {

/// A rank of another host than the coordinator's, to be started and watched here.
struct GuardRequest {
  ProcessStart start;       ///< Of the rank; its environment names `listener`.
  std::string coordinator;  ///< "HOST:PORT" of task 0.
  std::string token;        ///< Said on both connections.
  RunLimits limits;
  int stop_descriptor = -1;  ///< As in RunRequest.
};

/// What became of its process.
struct GuardResult {
  pid_t pid = -1;  ///< -1: it could not be started.
  ProcessEnd end = ProcessEnd::ByItself;
  ProcessStatus status;
  bool was_heard = false;  ///< The coordinator gave an order.
  int stop_signal = 0;
  std::string reason;              ///< Why it was ended; empty: it ended as it should.
  std::set<std::string> segments;  ///< Shared memory of NCCL that it was seen to use.
};

/// Returns when the rank's process is gone, or has to be given up. `listener` is where the rank
/// connects to. Throws Error if the process cannot be started.
GuardResult guard_rank(const GuardRequest& request, Listener& listener);

}  // namespace ncclog
