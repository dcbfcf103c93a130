// Who waits for whom?
//
//   rank 0 entered call 28 of the world, rank 5 did not      rank 0 → rank 5
//   rank 4 sent to rank 6 once more than rank 6 received     rank 4 → rank 6
//   rank 2 may wait in a call for rank 3, which made it, too rank 2 → rank 3
//   rank 5 waits for nobody                                  → it holds all others up
//
// The idea: a graph whose points are ranks and whose edges are waits. Its edges come from three
// sources, the strongest first: how far each communicator has come (fronts), messages between two
// ranks of which one end is missing, and calls that all have made and that may still not have
// begun, because each rank's calls run one after the other (diagnose/calls/rank_programs.h). A rank
// that is behind may itself wait in another communicator, so being late is no guilt: edges are
// followed to those who wait for nobody, or to a circle of ranks that wait for each other. Those
// are the strongly connected parts that no edge leaves. Where a communicator's ranks are not all
// known, nothing follows from its front, and who may wait for such a rank is not named as one that
// holds others up.
//
// The cost: a front or a held call is a point of its own between those who wait and those who are
// awaited, so n ranks have n edges and not n * n / 4; the rest is linear in edges, and in the calls
// of rank_programs(), which are looked at only where some call lacks its like. It is worked out
// once for a job.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "model/job.h"
#include "model/ledger/call_ledger.h"

namespace ncclog {

/// How many collectives, messages apart, the logs show of a rank; 0 where they show none.
uint64_t collectives_of(const Job& job, const CommRank& rank);

/// True if all ranks whose calls are counted made equally many collectives.
bool equally_long(const Job& job, const Communicator& comm);

/// What its lines tell of a communicator. Valid as long as the job.
inline const CallAccount& line_account(const Job& job, int communicator) {
  return call_ledger(job, CallSource::Lines)[static_cast<size_t>(communicator)];
}

/// Fronts of all communicators on which lines show collectives, in order.
std::vector<CallFront> call_fronts(const Job& job);

/// The call that those ahead entered and those behind did not; nullptr if it is no longer kept.
const PlacedCall* open_call(const Job& job, const CallFront& front);

/// Messages from one rank to another that were posted on one side only.
struct UnmatchedMessages {
  int communicator = -1;
  int sender = -1;    ///< Into Communicator::ranks.
  int receiver = -1;  ///< Likewise.
  uint64_t sent = 0;
  uint64_t received = 0;
  bool sizes_differ = false;  ///< As many on both sides, but not of the same sizes.

  bool receiver_owes() const { return sent > received; }
  /// The end that made fewer messages, and the other one; into Communicator::ranks.
  int owing() const { return receiver_owes() ? receiver : sender; }
  int waiting() const { return receiver_owes() ? sender : receiver; }
  auto operator<=>(const UnmatchedMessages&) const = default;
};

/// One rank holds others up in a communicator, or several wait for each other in a circle.
struct Blocker {
  std::vector<Waiter> waiters;    ///< One: it waits for nobody. Several: a circle.
  std::vector<size_t> fronts;     ///< Into Waits::fronts: where they are behind.
  std::vector<size_t> unmatched;  ///< Into Waits::unmatched: messages they owe.
};

struct Waits {
  std::vector<CallFront> fronts;
  std::vector<UnmatchedMessages> unmatched;
  std::vector<Waiter> waiting;  ///< Whoever waits for somebody, or may; sorted.
  /// Circles that collectives close among themselves, each sorted.
  std::vector<std::vector<Waiter>> circles;
  std::vector<Blocker> blockers;  ///< In order of their first waiters.
  std::vector<Waiter> blocking;   ///< Who is in any of them, sorted.
};

/// One of `blockers`, which are ranks that wait for nobody, in order of their first waiters.
inline bool is_one_of(const std::vector<Blocker>& blockers, const Waiter& waiter) {
  return std::ranges::binary_search(blockers, waiter, {},
                                    [](const Blocker& one) { return one.waiters.front(); });
}

/// Everything that waits in the job, and what it comes down to. Valid as long as the job.
const Waits& find_waits(const Job& job);

/// The messages between ranks of a communicator whose calls are counted that do not match, as far
/// as both ends are known.
std::vector<UnmatchedMessages> unmatched_messages(const Job& job, int communicator);

/// In which calls they meet.
CallLine line_of(const Job& job, const UnmatchedMessages& messages);

/// True if no message was made whose other end the logs may not cover.
bool messages_are_covered(const Job& job);

/// Some of its waiters would wait for each other without any message, too.
bool is_closed_by_fronts(const Waits& waits, const Blocker& blocker);

/// The waiter holds others up, alone or in a circle.
bool blocks(const Waits& waits, const Waiter& waiter);

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

/// The calls of rank_programs() played through: those that are complete and still await somebody
/// may not have been completed. `in_order`: as if none were one group, and no Send were buffered.
/// Valid as long as the job.
Simulation simulate_calls(const Job& job, bool in_order = false);

// Who holds a hanging job up and waits for nobody, as far as the logs can tell?
//
//   ranks 0, 1, 3 wait in a call for rank 2, which has come to its end without it   → rank 2
//   the same, and rank 2 received once more than rank 4 sent                        → nobody
//   the same, and rank 4's log is missing                                           → nobody
//
// These answer only where the job stood still; the caller knows that.

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
std::vector<Blocker> idle_blockers(const Job& job, const Waits& waits);

// Which of the calls that the lines tell of were not compared with those of the other ranks?
//
//   rank 3's lines are torn        → "the calls of rank 3 were not compared (lines are torn)"
//   rank 3's file ends early, and its communicator's end is not in it                → likewise
//   ranks 0-3 made the same calls, and rank 2's log lacks the line of the fifth      → "": they were
//   no line of a call              → "": there is nothing to compare, and coverage says so
//
// What differs may be what a failure comes from, so a job of which calls were not compared is not
// known to be clean.

/// A clause that says so; empty where everything was compared.
std::string uncompared_words(const Job& job);

}  // namespace ncclog
