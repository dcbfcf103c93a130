// Who diverged: which rank left what it, or what ranks like it, always did?
//
//   TP TP TP TP world | TP TP TP TP world | TP TP TP world       against its own past
//   ranks 0, 1, 3:  TP TP TP TP world     rank 2:  TP TP TP world    against the many
//   rank 2:  Recv Send→3 AllReduce | … | Recv AllReduce              a message that it left out
//
// Where ranks wait for each other in a circle, or two of them contradict each other, neither log
// says who is wrong. What tells them apart is repetition: the ranks of a training job repeat
// themselves, and most of them do the same. All three answers prefer silence: where the past is too
// short, where no majority exists, or where the other end did likewise, nobody is named.
//
// The cost: against the past, each of the last steps is compared with all before it; against the
// many, every kept call is looked at once; of messages, the gaps of a program are found once for
// each place from which they are asked for.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "model/calls.h"
#include "model/job.h"

namespace ncclog {

// Did a rank do something that it never did before at that place?
//
//   TP TP TP TP world | TP TP TP TP world | TP TP TP world
//       after four TP calls came the world's, now after three: this rank departed from its program
//
// Where ranks wait for each other in a circle, or two of them contradict each other, neither the
// log of one nor that of the other says who is wrong. What tells them apart is that the ranks of a
// training job repeat themselves: the one that departs from what it, or from what all ranks like
// it, always did at that place is the odd one. Where the past does not tell, nothing is said.

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

// Did the rank that owes a message leave it out?
//
//   rank 2:  Recv Send→3 AllReduce | Recv Send→3 AllReduce | … | Recv AllReduce
//   rank 3:  Recv←2 AllReduce      | Recv←2 AllReduce      | … | Recv←2
//       → rank 2 called AllReduce where it had always sent to rank 3
//
// That a Send lacks its Recv does not say whether the Recv was left out or the Send is one too
// many. What may tell is that the ranks of a training job repeat themselves: behind the same calls
// always came the message, and behind the message what was called now. The other way round, a
// message where another call always stood proves nothing: pipelines begin and end unlike their
// middle, and whoever waits has come there first. Nor does a loop that ends: both ends made a
// collective before, the rank that owes the message went on to the next one, and the past is what
// stood before the first of them. Where the other end, too, left such a message out, the past does
// not hold: who has nothing to send may leave it out.

/// A message that a rank left out.
struct MessageDeparture {
  Waiter waiter;
  RankCall made;       ///< The call that it made instead.
  uint64_t index = 0;  ///< Of the message, in the line of its end.
};

/// Where the rank that owes messages left one out; nullopt: its past does not tell. Pure.
std::optional<MessageDeparture> message_departure(const Job& job,
                                                  const UnmatchedMessages& messages);

}  // namespace ncclog
