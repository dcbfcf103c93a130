// A small plan and an outcome of it, made by hand.

#pragma once

#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog::testing {

/// Two ranks on two hosts, a communicator and one split off it; rank 1 skips the AllReduce that
/// rank 0 makes as call 1, and calls AllGather. Nothing in it is wrong. Every member is set.
ReplayPlan sample_plan();

/// Its defect run hung as recorded, its clean run was completed.
ReplayOutcome sample_outcome();

}  // namespace ncclog::testing
