// Who takes part in a replay: which ranks of the job become ranks of the plan, in which
// communicators?
//
//   8 processes, each in the world and in one of two TP groups
//       → 8 seats; communicators: the world, both TP groups
//   one process that holds 4 GPUs → 4 seats
//
// A seat is one rank of the replay: a process on one GPU. Communicators on which nothing was called
// are left out, but for parents that others are split from.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/job.h"
#include "replay/call_windows.h"

namespace ncclog {

/// A rank of the job that becomes a rank of the plan.
struct Seat {
  int process = -1;        ///< Into Job::processes.
  int cuda_dev = -1;       ///< -1: the process holds one rank.
  int recorded_rank = -1;  ///< In the job; -1: unknown.

  bool operator==(const Seat&) const = default;
};

/// Who takes part, and how ranks are numbered among those who do.
struct PlanSeats {
  std::vector<Seat> seats;            ///< By recorded rank, unknown ones last.
  std::map<Membership, int> seat_of;  ///< Into `seats`.
  std::vector<int> communicators;     ///< Into Job::communicators; parents before their children.

  /// Ranks in a communicator of the job, as (communicator, rank), and their numbers in the plan.
  std::map<std::pair<int, int>, int> numbers;

  /// Into `communicators`; -1: that communicator of the job takes no part.
  int place_of(int communicator) const;
  /// Ranks of that communicator of the job, by rank in it, into `seats`.
  std::vector<int> ranks_of(const Job& job, int communicator) const;
  /// The number in the plan of a rank in that communicator of the job; -1: it takes no part.
  int number_of(int communicator, int rank) const;
};

/// The seats of `members` in those of their communicators that are in `wanted`, and in their
/// parents.
PlanSeats plan_seats(const Job& job, const std::vector<Membership>& members,
                     const std::vector<int>& wanted);

/// Pseudo-hosts of the seats, numbered by first use: seats with equal numbers ran on one host as
/// NCCL takes it, which NCCL_HOSTID may decide.
std::vector<int> host_groups(const Job& job, const PlanSeats& seats);

}  // namespace ncclog
