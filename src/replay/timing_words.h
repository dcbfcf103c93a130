// What do times under varied settings show?
//
//   NCCL_P2P_DISABLE=0   median 897.9 us, 880.1 - 910.3
//   NCCL_P2P_DISABLE=1   median 9651.9 us, 9601.0 - 9702.2
//   → "AllReduce of 268435456 bytes: NCCL_P2P_DISABLE=1 takes 10.7 times as long as
//      NCCL_P2P_DISABLE=0 (9651.9 against 897.9 us)."
//
// Where the times of single runs overlap, the medians are not compared: nothing is shown.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/result.h"

namespace ncclog {

/// One sentence for each setting but the fastest, held against that one, call by call in the order
/// of `timings`. Empty: nothing was varied, or nothing was timed under two settings.
std::vector<std::string> time_comparisons(std::span<const ReplayTiming> timings);

}  // namespace ncclog
