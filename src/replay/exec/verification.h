// What do the comparisons of all calls of a rank come to?
//
//   29 calls, 117440512 elements, 1 of them wrong: element 7 of call 28 is 3 instead of 4

#pragma once

#include <span>
#include <vector>

#include "replay/exec/compared_elements.h"
#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

/// `calls` are those of rank `rank`, `results` has one for each of them. Only completed ones count.
Verification verification_of(const ReplayPlan& plan, int rank, std::span<const PlannedCall> calls,
                             std::span<const ComparedElements> results,
                             const std::vector<bool>& is_completed);

}  // namespace ncclog
