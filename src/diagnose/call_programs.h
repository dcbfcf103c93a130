// Did a rank do something that it never did before at that place?
//
//   TP TP TP TP world | TP TP TP TP world | TP TP TP world
//       after four TP calls came the world's, now after three: this rank departed from its program
//
// Where ranks wait for each other in a circle, or two of them contradict each other, neither the
// log of one nor that of the other says who is wrong. What tells them apart is that the ranks of a
// training job repeat themselves: the one that departs from what it, or from what all ranks like
// it, always did at that place is the odd one. Where the past does not tell, nothing is said.

#pragma once

#include <optional>
#include <vector>

#include "diagnose/call_waits.h"
#include "model/job.h"

namespace ncclog {

/// A rank, and the last of its calls that is looked at.
struct CallerUntil {
  Waiter waiter;
  SourceRef last;  ///< Line 0: all calls are.
};

/// True if one of the last calls of a rank departs from its own past, false if all of them follow
/// from it; nullopt if there is too little of a past to tell.
std::optional<bool> departs_from_past(const Job& job, const CallerUntil& caller);

/// Of `callers`, those that departed from their programs, if they are fewer than the others; none
/// if that cannot be told.
std::vector<Waiter> departed(const Job& job, const std::vector<CallerUntil>& callers);

/// The same of all that `waiters` called.
std::vector<Waiter> departed(const Job& job, const std::vector<Waiter>& waiters);

}  // namespace ncclog
