// Which calls of each rank does a plan take?
//
//   world: rank 5 made 28 collectives, the others 60; --last 8
//       → of every rank those numbered 20 to 59: the last eight that all made, and what some made
//         beyond them, at most kBeyond calls
//
// Ranks of a communicator begin at the same collective, and both ends of a pair at the same
// message, so that what is taken can be replayed without what came before it. How many calls were
// made is known from the job; the calls themselves are read again (replay/recorded_calls.h).

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// A rank of a communicator.
struct Membership {
  int communicator = -1;  ///< Into Job::communicators.
  int member = -1;        ///< Into Communicator::ranks.

  auto operator<=>(const Membership&) const = default;
};

/// The calls numbered `from` to before `to`.
struct CallWindow {
  uint64_t from = 0;
  uint64_t to = 0;

  bool holds(uint64_t number) const { return from <= number && number < to; }
  bool operator==(const CallWindow&) const = default;
};

/// Of one member: its collectives, and its messages by the peer's rank in the communicator.
struct MemberWindows {
  CallWindow collectives;
  std::map<int, CallWindow> sent;
  std::map<int, CallWindow> received;

  bool operator==(const MemberWindows&) const = default;
};

using CallWindows = std::map<Membership, MemberWindows>;

/// Calls beyond the last that all ranks made, at most: those that a host enqueued ahead.
inline constexpr uint64_t kBeyond = 32;

/// The members of all communicators whose calls the logs cover as well as any: those that are
/// counted, else those that made at least what is seen, else all of whom calls are seen. None of a
/// communicator with fewer than two such ranks, or whose ranks are not numbered.
std::vector<Membership> covered_members(const Job& job);

/// Where the logs certainly hold several runs: the members of the one that communicator is in, else
/// of the largest run. `communicator` is an id; it may be empty.
std::vector<Membership> members_of_one_run(const Job& job, const std::vector<Membership>& members,
                                           const std::string& communicator);

/// Windows of those members, around the last `last` calls that all of a communicator made.
CallWindows call_windows(const Job& job, const std::vector<Membership>& members, uint64_t last);

/// The member's entry in the job. Valid as long as the job is.
const CommRank& rank_of(const Job& job, const Membership& member);

}  // namespace ncclog
