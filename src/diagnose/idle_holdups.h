// Who holds a hanging job up and waits for nobody, as far as the logs can tell?
//
//   ranks 0, 1, 3 wait in a call for rank 2, which has come to its end without it   → rank 2
//   the same, and rank 2 received once more than rank 4 sent                        → nobody
//   the same, and rank 4's log is missing                                           → nobody
//
// These answer only where the job stood still; the caller knows that.

#pragma once

#include <vector>

#include "diagnose/call_waits.h"
#include "model/job.h"

namespace ncclog {

/// On some communicator ranks called different things at one place, so that counts mean less.
bool ranks_contradict_each_other(const Job& job);

/// The waiter may wait for a rank whose calls the logs do not cover, or waited in a call that all
/// have made until its own watchdog fired.
bool may_wait_for_unknown(const Job& job, const Waits& waits, const Waiter& waiter);

/// Some timeouts cannot be told to belong to one of NCCL's processes: up to PyTorch 2.1 they name a
/// rank inside some group only, and without initialisation lines NCCL's processes have no ranks.
bool timeouts_name_no_process(const Job& job);

/// Of `waits`, those of one rank that waits for nobody; none whose own watchdog fired. Where none
/// fired at all, none of several that may wait for a rank beside it in a call that no line shows.
std::vector<Holdup> idle_holdups(const Job& job, const Waits& waits);

}  // namespace ncclog
