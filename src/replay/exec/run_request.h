// From a replay to the request for one of its runs: which processes, with which command lines, in
// which environment.
//
//   run 1, defect   → ncclog-replay rank --plan … --mode defect --rank 0 --device 0
//                     ncclog-replay rank --plan … --mode defect --rank 1 --device 1

#pragma once

#include <string>

#include "replay/exec/coordinator.h"
#include "replay/exec/prepare_replay.h"

namespace ncclog {

/// What a run is made with beside the replay.
struct RunMeans {
  RunLimits limits;          ///< Without the time for measuring.
  std::string address;       ///< "HOST:PORT" where the coordinator listens.
  int stop_descriptor = -1;  ///< As in RunRequest.
};

/// The request for run `number` of the replay's list. It refers to the replay's plan. Its token is
/// a new one.
RunRequest request_for(const PreparedReplay& replay, size_t number, const RunMeans& means);

}  // namespace ncclog
