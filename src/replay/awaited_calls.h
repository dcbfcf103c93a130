// For which calls does the clean run of a plan wait at its end, and for whom?
//
//   rank 0: AllReduce(28)        rank 1: nothing more
//       → rank 1, AllReduce(28) as rank 0 makes it

#pragma once

#include <vector>

#include "replay/find_deadlock.h"
#include "replay/plan.h"

namespace ncclog {

/// A call in which others wait for a rank, as one of them makes it.
struct AwaitedCall {
  int rank = -1;     ///< Into ReplayPlan::ranks: who is waited for.
  PlannedCall call;  ///< Its own: of a message the other end.
};

/// What the clean run waits for at its end: calls that all but some of `ranks` came to, and that
/// are not among those ranks' own. By communicator and index, then by rank.
std::vector<AwaitedCall> awaited_calls(const ReplayPlan& plan, const std::vector<int>& ranks,
                                       SendEnds sends = SendEnds::WithItsRecv);

}  // namespace ncclog
