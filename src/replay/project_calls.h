// What is left of each rank's calls if only some of the communicators take part?
//
//   rank 1, both groups: Send@0 AllReduce@1 AllReduce@0       only communicator 1: AllReduce
//
// Where a call belongs may show only beside calls on other communicators, so calls get their places
// before those are left out.

#pragma once

#include "replay/plan.h"
#include "replay/plan_seats.h"

namespace ncclog {

/// Copies the calls of `all`, whose ranks are the seats of `from`, to the ranks of `plan`, which
/// are those of `to`. The communicators and seats of `to` are among those of `from`. Streams are
/// numbered anew by first use, and a group of which one call is left is none.
void project_calls(const ReplayPlan& all, const PlanSeats& from, const PlanSeats& to,
                   ReplayPlan& plan);

}  // namespace ncclog
