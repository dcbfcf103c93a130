// What is left of a plan when only some of its ranks are kept.
//
//   ranks 0 and 5 of 8   → they become 0 and 1, and rank 0 stands for the six that made its calls
//
// Calls keep their order and their numbers. Communicators with fewer than two kept ranks go, with
// their calls; so do messages to ranks that are not kept; a root that is not kept becomes the
// lowest rank. What is lost is among the plan's losses.

#pragma once

#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// The plan of the ranks `kept` of `plan`, ascending. The communicator that stands still has to
/// keep two of them.
ReplayPlan smaller_plan(const ReplayPlan& plan, const std::vector<int>& kept);

}  // namespace ncclog
