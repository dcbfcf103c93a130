// Can a plan be made of these logs at all?
//
//   INIT,NET only, no COLL            → no: nobody knows what was called; what to set next time
//   COLL lines, but no INIT lines     → no: nobody knows which ranks a communicator joins
//   calls of one rank of eight        → no: its partners are unknown

#pragma once

#include <vector>

#include "model/job.h"
#include "replay/call_windows.h"

namespace ncclog {

/// Throws Error with the reason and what to capture if `members`, as covered_members(job) gives
/// them, are too few for a plan.
void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members);

}  // namespace ncclog
