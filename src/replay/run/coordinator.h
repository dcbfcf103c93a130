// One run of a replay, from the start of its processes until the last of them is gone.
//
//   started → all connected → init → calls → completion → teardown → all gone        completed
//                                       └ 30 s are over: "abort" → 5 s → SIGTERM → 2 s → SIGKILL
//
// One loop waits for whatever comes first: a rank's words, the end of a process, a deadline, a
// signal to the coordinator. However a run ends, no process of it is left when this returns, but
// for one that the kernel does not let go; that one is reported as Lost.

#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

/// A run to be made.
struct RunRequest {
  const ReplayPlan* plan = nullptr;     ///< Outlives the run.
  MadeIn mode = MadeIn::Clean;          ///< Clean or Defect.
  std::vector<int> gpus;                ///< By rank of the plan.
  std::vector<ProcessStart> processes;  ///< By rank of the plan; their channels are made here.
  RunLimits limits;
  std::string token;         ///< By which their processes are known.
  int stop_descriptor = -1;  ///< A signalfd: what comes there ends the run; -1: nothing does.
};

/// What became of it.
struct RunResult {
  /// Without what is found after the run: GPUs, leftovers, logs.
  RunOutcome run;
  std::string nccl_version;        ///< As the ranks report; empty: none did.
  int stop_signal = 0;             ///< That ended the run; 0: none.
  std::vector<pid_t> pids;         ///< Of the processes, each the leader of a group.
  std::set<std::string> segments;  ///< Shared memory of NCCL that they were seen to use.
};

/// Starts the processes, each with a channel to this one, and returns when all are gone. Never
/// throws because of what a rank does.
RunResult coordinate(const RunRequest& request);

/// What coordinate() does, for ranks that are threads of this process and that nobody ends: all go
/// on when all have come; the first error, or a phase that takes too long, aborts all. `ranks` are
/// our ends of their channels. Returns when all have closed theirs; the first error, empty: none.
std::string lead_threads(std::vector<Connection> ranks, RunProgress& progress);

}  // namespace ncclog
