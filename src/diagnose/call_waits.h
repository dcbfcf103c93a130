// Who waits for whom?
//
//   rank 0 entered call 28 of the world, rank 5 did not      rank 0 → rank 5
//   rank 4 sent to rank 6 once more than rank 6 received     rank 4 → rank 6
//   rank 2 may wait in a call for rank 3, which made it, too (diagnose/held_calls.h)
//                                                            rank 2 → rank 3
//   rank 5 waits for nobody                                  → it holds all others up
//
// A rank that is behind may itself wait in another communicator, so being late is no guilt: the
// edges are followed to those who wait for nobody, or to a circle of ranks that wait for each
// other. Where a communicator's ranks are not all known, nothing follows from its front.

#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/call_fronts.h"
#include "diagnose/waiter.h"
#include "model/job.h"

namespace ncclog {

/// Messages from one rank to another that were posted on one side only.
struct UnmatchedMessages {
  int communicator = -1;
  int sender = -1;    ///< Into Communicator::ranks.
  int receiver = -1;  ///< Likewise.
  uint64_t sent = 0;
  uint64_t received = 0;
  bool sizes_differ = false;  ///< As many on both sides, but not of the same sizes.
};

/// One rank holds others up in a communicator, or several wait for each other in a circle.
struct Holdup {
  std::vector<Waiter> waiters;    ///< One: it waits for nobody. Several: a circle.
  std::vector<int> fronts;        ///< Into Waits::fronts: where they are behind.
  std::vector<size_t> unmatched;  ///< Into Waits::unmatched: messages they owe.
};

struct Waits {
  std::vector<CallFront> fronts;
  std::vector<UnmatchedMessages> unmatched;
  std::vector<Waiter> waiting;  ///< Whoever waits for somebody, or may; sorted.
  /// Circles that collectives close among themselves, each sorted.
  std::vector<std::vector<Waiter>> circles;
  std::vector<Holdup> holdups;  ///< In order of their first waiters.
};

/// Everything that waits in the job, and what it comes down to. Valid as long as the job.
const Waits& find_waits(const Job& job);

/// The messages between ranks of a communicator whose calls are counted that do not match, as far
/// as both ends are known.
std::vector<UnmatchedMessages> unmatched_messages(const Job& job, int communicator);

/// True if no message was made whose other end the logs may not cover.
bool messages_are_covered(const Job& job);

/// Some of its waiters would wait for each other without any message, too.
bool is_closed_by_fronts(const Waits& waits, const Holdup& holdup);

/// The waiter holds others up, alone or in a circle.
bool holds_up(const Waits& waits, const Waiter& waiter);

}  // namespace ncclog
