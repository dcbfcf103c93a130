// Who never came to the creation of a process group?
//
//   INFO:root:Waiting in store based barrier to initialize process group for rank: 0, key:
//   store_based_barrier_key:1 (world_size=4, worker_count=3, timeout=0:30:00)
//       the same of ranks 1 and 3, and nothing behind it
//       → job.store_barrier_absent = yes, "ranks 0,1,3 waited …, 1 of 4 ranks never came …"
//
// A rank prints the line after it has waited for ten seconds, and each ten seconds from then on.

#pragma once

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

/// job.store_barrier_absent.
FactValue store_barrier_absent(const Job& job, const Instance&);

}  // namespace ncclog
