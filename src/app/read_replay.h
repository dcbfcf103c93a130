// Reading what a replay left in its folder: the outcome, and NCCL's logs of each run.
//
//   DIR/plan.json  DIR/outcome.json  DIR/result.json  DIR/run-1-defect/nccl.lab-7.4711.log

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"
#include "replay/judge/differences.h"

namespace ncclog {

/// DIR/outcome.json. Throws Error if it is not there, makes no sense, or is of another plan than
/// that of `plan_hash`.
ReplayOutcome read_outcome(const std::filesystem::path& folder, const std::string& plan_hash);

/// What the log of each run says, by run; one that cannot be read says nothing.
std::vector<ReadBack> read_replay_logs(const ReplayPlan& plan, const ReplayOutcome& outcome,
                                       const std::filesystem::path& folder);

}  // namespace ncclog
