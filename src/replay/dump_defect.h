// What the Flight Recorder's dumps show to be wrong with the calls, as a plan tests it.
//
//   Late, rank 5 at collective 29    → a missing call of rank 5, communicator 0, index 28
//   Mismatch, rank 3 at 20           → another call; in the clean run rank 3 makes the majority's
//
// The verdict is diagnose/recorder_verdict.h's.

#pragma once

#include <vector>

#include "replay/dump_groups.h"
#include "replay/plan.h"

namespace ncclog {

/// A verdict in terms of the plan's ranks.
struct DumpedDefect {
  Hypothesis hypothesis;                       ///< Without finding and title.
  bool split = false;                          ///< Calls differ, and nobody is outvoted.
  const FlightRecorderEntry* right = nullptr;  ///< Of a mismatch: the call of the majority.
};

/// What a plan can test of it.
DefectKind kind_of(const RecorderVerdict& verdict);

/// None if the group that the verdict is about is not among `groups`, which outlive what is
/// returned.
DumpedDefect dumped_defect(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                           const RecorderVerdict& verdict);

/// Lets those who called something else make the majority's call in its place in the clean run, and
/// nothing of what they made from then on with the group. Nothing if the defect knows no such call.
void put_right(const std::vector<DumpedGroup>& groups, const DumpedDefect& defect,
               ReplayPlan& plan);

}  // namespace ncclog
