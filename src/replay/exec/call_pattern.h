// Which pattern does a planned call send and expect?
//
//   call 28 of rank 1, AllReduce on communicator 0, and call 28 of rank 0 → the same key
//   Send 3 from rank 0 to rank 1 and Recv 3 of rank 1 from rank 0         → the same key

#pragma once

#include <cstdint>
#include <string>

#include "replay/exec/pattern.h"
#include "replay/plan.h"

namespace ncclog {

/// The pattern of `call` on `rank` of a communicator of `nranks`. Precondition: the call is
/// replayable and has a datatype of nccl.h.
DataPattern pattern_of(const PlannedCall& call, int rank, int nranks);

/// Whether what arrives is known: not for the job's own reductions, which nobody recorded, and not
/// where AlltoAll is in place, which NCCL does not define.
bool is_compared(const PlannedCall& call);

/// An element for people: "3" or "-0.5" of what was reduced, "0x4200" of what was only moved.
std::string element_text(const DataPattern& pattern, uint64_t bits);

}  // namespace ncclog
