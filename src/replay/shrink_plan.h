// The same test on fewer GPUs.
//
//   8 ranks on 2 hosts, rank 5 departed; 2 GPUs
//       → ranks 5 and 0: the one that departed, and a witness on the other host; rank 0 stands for
//         the six that made the same calls
//
// Which ranks are kept says replay/kept_ranks.h, and what is left of the plan
// replay/smaller_plan.h.

#pragma once

#include "replay/plan.h"

namespace ncclog {

/// The plan with `gpus` ranks at most; unchanged if it has no more. Throws Error below two GPUs,
/// and with how many would do where the two runs would no longer differ.
ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus);

}  // namespace ncclog
