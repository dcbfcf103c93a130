// From recorded lines to the calls of each rank of a plan.
//
//   AllGather sendbuff 0x7f00001000 recvbuff 0x7f00000000 count 1024 datatype 7, rank 1 of 4
//       → in place: the rank sends from its own part of what it receives
//
// In place is what nccl.h calls so (2.28.9): equal pointers, but for AllGather
// recvbuff + rank * count * size == sendbuff, and for ReduceScatter the other way round; Gather and
// Scatter likewise on their root. Streams are numbered by first use. Where no line tells of
// groups, messages one behind the other with one opCount are taken for one, since NCCL counts a
// group's operations as one; but only where opCount is seen to count, or a rank sends to
// itself. Else each stands alone: to join a Send and the Recv behind it would hide the deadlock
// that they may be.

#pragma once

#include <cstdint>
#include <vector>

#include "replay/plan.h"
#include "replay/plan_seats.h"
#include "replay/recorded_calls.h"

namespace ncclog {

/// What the seats called, and what was done to put that into calls of a plan.
struct PlanPrograms {
  std::vector<std::vector<PlannedCall>> by_seat;  ///< One list a seat, in the order of lines.
  uint64_t not_replayable = 0;  ///< Calls that were dropped: unknown function, datatype, count.
  bool guessed_groups = false;  ///< Some group rests on opCounts.
  bool ungrouped = false;       ///< Messages stand alone that may have been a group.
  bool counts_bytes = false;    ///< Some AllGather or Broadcast is known in bytes only.
};

/// True if a replay can make that call.
bool can_be_planned(const CallSignature& call);

/// The call as the member made it, on stream 0 and in no group. A root that takes no part becomes
/// the lowest rank that does.
PlannedCall planned_call(const Job& job, const PlanSeats& seats, const RecordedCall& call);

/// The calls of all seats, in the order of their lines.
PlanPrograms plan_programs(const Job& job, const RecordedCalls& recorded, const PlanSeats& seats);

}  // namespace ncclog
