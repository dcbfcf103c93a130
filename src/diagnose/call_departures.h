// Which rank left the program that ranks like it kept to?
//
//   ranks 0, 1, 3:  TP TP TP TP world        rank 2:  TP TP TP world
//       → after three TP calls rank 2 called the world's, the others a fourth TP one
//
// In a training job most ranks make the same calls on communicators of the same kind, in the same
// order. Ranks are followed as long as they do; where they part, the few that call something else
// than the many have departed. A rank whose log ends earlier did not depart: it waits. Ranks whose
// roles differ (stages of a pipeline, say) part in the first iteration already, so a parting counts
// only near the end of the logs, and only if the many had made that step before.

#pragma once

#include <vector>

#include "diagnose/call_waits.h"
#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

/// One rank that departed.
struct Departure {
  Waiter waiter;
  int communicator = -1;  ///< Into Job::communicators: where it called something else.
  PlacedCall call;        ///< That call.
  int usual_communicator = -1;
  PlacedCall usual;   ///< What the others called there; the call of one of them.
  size_t others = 0;  ///< How many did.

  bool operator==(const Departure&) const = default;
};

struct Departures {
  std::vector<Departure> odd;  ///< The few, by rank.
  /// Likewise, where the many had not made that step before: perhaps the first time that ranks with
  /// another role go their own way.
  std::vector<Departure> unheard_of;
  /// Two ranks made two calls in opposite order, and no majority says which one is odd: each of
  /// them as if it had departed from the other. Empty if there are none.
  std::vector<Departure> undecided;
};

/// All ranks that departed; none of those whose calls are not all known. Pure.
Departures find_departures(const Job& job);

}  // namespace ncclog
