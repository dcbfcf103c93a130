// How did a run end, in a word and in a sentence?
//
//   hung, completion    completion was not over after 30 s; ranks 0 and 1 were still in it
//   died, completion    rank 1 (pid 4711) was killed by SIGKILL in completion
//   failed, init        rank 0: ncclCommInitRankConfig on communicator 0: unhandled cuda error
//   wrong, teardown     rank 1: 3 of 4096 elements are wrong, the first is element 7 of call 28

#pragma once

#include <optional>
#include <string>

#include "replay/exec/child_process.h"
#include "replay/exec/run_progress.h"

namespace ncclog {

/// What ended a run before its end.
struct Trouble {
  RunEnd end = RunEnd::Failed;
  ReplayPhase phase = ReplayPhase::Start;
  int rank = -1;       ///< That began it; -1: none.
  std::string reason;  ///< Empty: how the rank's process ended says it.
};

/// That the phase took too long.
Trouble expiry_of(const RunProgress::Deadline& deadline, const RunProgress& progress,
                  const RunLimits& limits);

/// How a run ends in which that rank's process went away before its time.
RunEnd end_of_death(const RankOutcome& rank);

/// True if a process that ended so is why other ranks failed: it was killed by somebody else.
bool explains(const ProcessStatus& status, const Trouble& trouble);

/// Fills in end, phase and reason. Without a trouble the run was completed, or its data are wrong.
void conclude(RunOutcome& run, const std::optional<Trouble>& trouble);

}  // namespace ncclog
