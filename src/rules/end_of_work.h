// What findings come to on a job that evidently finished.
//
//   740 WARN lines of proxies behind "run_stop … success"    → no findings; one info counts them
//   gdr-distance, advice of severity warning                 → info: the job was slower, not broken
//   socket-instead-of-ib, which halves the bandwidth         → still a warning
//
// Processes leave one after the other and take their sockets down, so NCCL warns of what its peers
// did. And whoever reads "suspicious" of a job that did its work looks for a fault that is not
// there.

#pragma once

#include "rules/find_all.h"

namespace ncclog {

/// Takes out findings that only NCCL's lines after the end of the work show. Makes an info of
/// advice, unless its rule says that it costs half of the bandwidth, and of what a last resort
/// quotes: the job outlived it. Does nothing to other jobs, and leaves severities alone where the
/// user says something else than that the job finished.
void weigh_by_end(const Rulebook& rulebook, const Job& job, Found& found);

}  // namespace ncclog
