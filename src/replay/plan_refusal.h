// Can a plan be made of these logs at all?
//
//   no Init COMPLETE, and it failed   → no: nothing was called
//   INIT,NET only, no COLL            → no: nobody knows what was called; what to set next time
//   COLL lines, but no INIT lines     → no: nobody knows which ranks a communicator joins
//   calls of one rank of eight        → no: its partners are unknown

#pragma once

#include <vector>

#include "model/job.h"
#include "replay/call_windows.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// Throws Error with the reason and what to capture if `members`, as covered_members(job) gives
/// them, are too few for a plan. `suspicions` are the analysis' findings, causes first: the first
/// testable one says why a job failed before it called anything.
void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members,
                          const std::vector<Suspicion>& suspicions);

/// True if the job failed and NCCL's lines show that no communicator was ever complete, so that no
/// call can have been made. False where that is not known.
bool failed_before_calls(const Job& job);

}  // namespace ncclog
