// Who may wait in a call that all have made, because somebody has not come to it yet?
//
//   rank 4:  AllReduce                         left out its Send to rank 2
//   rank 2:  Recv from 4, Send to 0            enqueued both; the first one waits for rank 4
//   rank 0:  Recv from 2                       has its Send, which stands behind rank 2's Recv
//       → rank 0 may wait for rank 2
//
// A host runs ahead of its GPU, so that a line of a call does not say that the call has begun. Here
// each rank's calls follow one another in the order of their lines. On several streams, or in one
// group, they may not: so this says who may wait, never who is to blame.

#pragma once

#include <vector>

#include "diagnose/call_waits.h"
#include "diagnose/rank_programs.h"
#include "model/job.h"

namespace ncclog {

/// A call that nobody owes any more and that may not have been completed.
struct HeldCall {
  CallLine line;
  uint64_t index = 0;
  std::vector<Waiter> waiting;  ///< For whom it is the first such call.
  std::vector<Waiter> awaited;  ///< Those that made it, behind a call in which they may wait.
};

/// By line and index. Pure.
std::vector<HeldCall> held_calls(const Job& job);

}  // namespace ncclog
