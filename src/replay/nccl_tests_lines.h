// How would nccl-tests make the calls of a plan?
//
//   # AllReduce of 1048576 float32 (sum), 2 ranks
//   NCCL_ALGO=Ring NCCL_NVLS_ENABLE=0 all_reduce_perf -b 4194304 -e 4194304 -d float -o sum -g 2 …
//
// For those who have it at hand. Its sizes are bytes of the whole operation (its
// doc/PERFORMANCE.md): of AllGather, ReduceScatter, AlltoAll, Gather and Scatter those of all ranks
// together, of which it gives each rank a multiple of 16.

#pragma once

#include <string>

#include "replay/plan.h"

namespace ncclog {

/// Lines for a shell, with comments: the call at the front that is tested, or without one the first
/// few different calls of the clean run. The plan has to make sense to check_plan.
std::string nccl_tests_lines(const ReplayPlan& plan);

}  // namespace ncclog
