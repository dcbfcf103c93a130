// The same test on fewer GPUs.
//
//   8 ranks on 2 hosts, rank 5 departed; 2 GPUs
//       → ranks 5 and 0: the one that departed, and a witness on the other host; rank 0 stands for
//         the six that made the same calls
//
// Whoever departed stays, then the roots that the call in question names, then ranks of the
// communicator that stands still; ranks of other pseudo-hosts are preferred, so that what went
// between hosts goes between pseudo-hosts.

#pragma once

#include <vector>

#include "replay/plan/plan.h"

namespace ncclog {

/// The ranks of the plan that `gpus` of them are best spent on, ascending; all if it has no more.
std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus);

/// The plan with `gpus` ranks at most; unchanged if it has no more. Throws Error below two GPUs,
/// and with how many would do where the two runs would no longer differ.
ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus);

}  // namespace ncclog
