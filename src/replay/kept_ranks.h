// Which ranks of a plan are fewer GPUs best spent on?
//
//   8 ranks on 2 hosts, rank 5 departed; 2 GPUs
//       → ranks 5 and 0: the one that departed, and a witness on the other host
//
// Whoever departed stays, then the roots that the call in question names, then ranks of the
// communicator that stands still; ranks of other pseudo-hosts are preferred, so that what went
// between hosts goes between pseudo-hosts.

#pragma once

#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// The ranks of the plan that `gpus` of them are best spent on, ascending; all if it has no more.
std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus);

}  // namespace ncclog
