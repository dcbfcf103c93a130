// How long does a call take on these GPUs?
//
// What is measured, and why twice, says call_times.h. All ranks of the communicator measure
// together; of each run the slowest rank's time counts, which they agree on by a reduction.

#pragma once

#include <functional>
#include <optional>

#include "replay/exec/call_times.h"
#include "replay/exec/rank_program.h"

namespace ncclog {

/// Repeats that call of `program`, on its buffers. Precondition: all calls are compared, and the
/// other ranks of the communicator time the same one. Throws.
MeasuredRuns time_call(RankProgram& program, size_t call, int runs, const NcclLibrary& nccl,
                       Communicators& communicators, int rank);

/// Times the call that the plan is about and says so if this is its rank 0; nullopt: it is not, or
/// there is nothing to time, or NCCL is older than 2.18 and splits no communicator. Throws.
std::optional<CallTiming> time_program(const ReplayPlan& plan, int rank, int runs,
                                       RankProgram& program, const NcclLibrary& nccl,
                                       Communicators& communicators);

}  // namespace ncclog
