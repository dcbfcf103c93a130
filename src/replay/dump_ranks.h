// The ranks, communicators and calls of a plan as the Flight Recorder's dumps tell them.
//
//   rank 5's dump: default_pg 27, tp_0 112, default_pg 28
//       → three calls of rank 5 in that order, on two communicators, each on a stream of its own

#pragma once

#include <vector>

#include "replay/dump_groups.h"
#include "replay/plan.h"
#include "replay/plan_seats.h"

namespace ncclog {

/// The processes of the plan's ranks; no seats if one of them is not known.
PlanSeats dumped_processes(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of);

/// Adds a communicator for each group, and the ranks with their calls. Hosts are told if `seats`
/// are.
void add_dumped(const Job& job, const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                const PlanSeats& seats, ReplayPlan& plan);

}  // namespace ncclog
