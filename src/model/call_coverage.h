// How much of what a rank called do the logs show?
//
//   rank 3  its file is whole and holds COLL lines          → Counted: it made exactly these calls
//   rank 4  its file is cut                                 → AtLeast: it made these and perhaps
//   more rank 5  no file, COLL not on, torn lines, a copied log  → Unknown
//
// Only a counted rank can be said not to have made a call. A file that was cut exactly at the end
// of a line looks whole; whoever draws conclusions needs a sign that the job stopped, too.

#pragma once

#include "model/collective_calls.h"
#include "model/job.h"

namespace ncclog {

enum class CallCoverage { Unknown, AtLeast, Counted };

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank);

/// What that rank called; nullptr if none of its lines were seen. Owned by the job.
const CollectiveCalls* calls_of(const Job& job, const CommRank& rank);

}  // namespace ncclog
