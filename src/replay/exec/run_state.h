// What the coordinator of a run knows of it, from its start until the last process is gone.
//
// Its loop (exec/coordinator.h) hands it to those that change it: what ranks say
// (exec/hear_ranks.h), how their processes end (exec/note_ends.h), and what is done to end them
// (exec/end_run.h).

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/exec/coordinator.h"
#include "replay/exec/end_stage.h"
#include "replay/exec/held_processes.h"
#include "replay/exec/rank_connections.h"
#include "replay/exec/run_progress.h"
#include "replay/exec/run_reason.h"

namespace ncclog {

/// A run under way.
struct RunState {
  explicit RunState(const RunRequest& of)
      : request(of),
        progress(of.plan->ranks.size(), of.limits, began),
        connections(of.token, of.plan->ranks.size()),
        said_aborted(of.plan->ranks.size(), false) {}

  const RunRequest& request;
  RunClock::time_point began = RunClock::now();
  RunProgress progress;
  std::vector<HeldProcess> processes;
  RankConnections connections;
  std::vector<bool> said_aborted;  ///< By rank.
  EndStage stage = EndStage::Running;
  RunClock::time_point stage_ends;  ///< Of the stages behind Running.
  std::optional<Trouble> trouble;   ///< Why the run is being ended; nullopt: it is not.
  int stop_signal = 0;              ///< That ends the run; 0: none.
  std::set<std::string> segments;   ///< Shared memory of NCCL that its processes were seen to use.
};

}  // namespace ncclog
