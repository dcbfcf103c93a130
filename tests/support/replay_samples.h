// Plans and outcomes of replays made by hand: two ranks, one communicator, three calls.

#pragma once

#include "replay/judge/differences.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog::testing {

/// Recorded ranks 0 and 5 of 2 on 1 host; both make calls 7 and 8, an AllReduce and an AllGather.
/// Rank 5 skips call 7 and makes the AllGather in its place. The job stood still at call 7.
ReplayPlan skipping_plan();

/// The same calls without a departure.
ReplayPlan healthy_plan();

/// A run that completed; results of all calls were compared.
RunOutcome completed_run(MadeIn mode);

/// A run that hung in completion at `front`.
RunOutcome hung_run(MadeIn mode, const FrontLine& front);

/// What was carried out: these runs with NCCL 2.28.9 on one host.
ReplayOutcome outcome_of(std::vector<RunOutcome> runs);

/// A log that says of NCCL what the plans recorded.
ReadBack like_the_record();

}  // namespace ncclog::testing
