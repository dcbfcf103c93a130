// How far had the ranks of a communicator come, and who is behind?
//
//   world, 8 ranks: call 28 was entered by ranks 0-4, 6 and 7; rank 5 had made 28 calls (0 … 27)
//       → front 28, behind {5}, unknown {}
//
// Only collectives count; their order is the same on all ranks. Ranks whose calls the logs do not
// cover are listed as unknown and are never behind.

#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"

namespace ncclog {

struct CallFront {
  int communicator = -1;     ///< Into Job::communicators.
  uint64_t front = 0;        ///< Calls that every counted rank made: the first one open is this.
  uint64_t furthest = 0;     ///< Most calls of a rank.
  std::vector<int> behind;   ///< Counted ranks at the front; into Communicator::ranks.
  std::vector<int> ahead;    ///< Those that entered the call there; empty if nobody did.
  std::vector<int> unknown;  ///< Not counted: no file, no call lines, cut, torn.
  int unseen = 0;            ///< Ranks of which not even a number is known.
  /// All of the job's ranks whose calls are unknown gave up on a work: they wait, wherever they
  /// are, and nobody is held up by them alone.
  bool unknown_wait = false;

  bool is_open() const { return !ahead.empty(); }
  bool counts_all() const { return unknown.empty() && unseen == 0; }
  bool knows_all() const { return counts_all() || unknown_wait; }
};

/// How many collectives, messages apart, the logs show of a rank; 0 where they show none.
uint64_t collectives_of(const Job& job, const CommRank& rank);

/// The front of a communicator whose ranks made the same calls as far as they came; if they did
/// not, nothing is behind or ahead.
CallFront call_front(const Job& job, int communicator);

/// Fronts of all communicators on which collectives were called, in order.
std::vector<CallFront> call_fronts(const Job& job);

/// The call that those ahead entered and those behind did not; nullptr if it is no longer kept.
const PlacedCall* open_call(const Job& job, const CallFront& front);

}  // namespace ncclog
