// Where does a plan end? At the call that is in question.
//
//   rank 5 leaves out AllReduce(28) and goes on: AllGather(28) ReduceScatter(29) …
//       → in the defect run rank 5 makes nothing after call 27 on that communicator, the others
//         make AllReduce(28), and nobody makes a call after it
//
// What a departed rank called later meets the call that the others wait in. NCCL matches calls by
// their order alone, so with a few ranks it may take those data for the missing ones, and compute
// nonsense where many ranks stood still.

#pragma once

#include <cstdint>

#include "replay/plan.h"

namespace ncclog {

/// Removes the collectives after the front, on its communicator, from both runs, and for a missing
/// call what those who left it out made in its place; those are then missing at the front. Of a
/// missing message, what its two ranks sent each other after it. Nothing if the hypothesis has no
/// front. Gives how many calls were removed.
uint64_t end_at_front(ReplayPlan& plan);

}  // namespace ncclog
