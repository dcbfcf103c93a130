// From a job, its calls and a finding to a plan. Pure.
//
//   plan of timeout-rank-skips, --last 32
//       8 ranks, 1 communicator, 28 calls that all made; hypothesis: rank 5 leaves out call 28

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"
#include "replay/plan.h"
#include "replay/recorded_calls.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// What the user asks of a plan.
struct PlanOptions {
  uint64_t last = 32;         ///< Calls of each communicator before it stands still.
  bool only_failing = false;  ///< Only the communicator that stands still.
  int gpus = 0;               ///< Ranks at most; 0: all.
  std::string finding;        ///< Id of the finding to be tested; empty: the first that fits.
};

/// What a plan is made of.
struct PlanSource {
  const Job& job;
  const RecordedCalls& recorded;
  std::vector<Suspicion> suspicions;  ///< All findings of the analysis, causes first.
  std::vector<std::string> logs;      ///< As the user named them.
};

/// The suspicion that is tested: that with the id `finding` or, where that is empty, the first
/// testable one that names a communicator, else the first testable one; without an id if there is
/// none. Throws Error if none has that id, or the one that has it cannot be tested.
Suspicion choose_suspicion(const std::vector<Suspicion>& suspicions, const std::string& finding);

/// Throws Error if the finding is none of the testable suspicions, if nothing stands still although
/// a finding is named or only what stands still is wanted, or if no call is left.
ReplayPlan build_plan(const PlanSource& source, const PlanOptions& options);

}  // namespace ncclog
