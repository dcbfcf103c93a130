// Which groups and ranks of the Flight Recorder's dumps does a plan take?
//
//   default_pg: ranks 0-4, 6 and 7 left dumps   → their last 32 calls; seats 0-6 of the plan
//   tp_1: one rank left a dump                  → nothing: who called alike is not known

#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/recorder_verdict.h"
#include "model/job.h"
#include "model/recorded_group.h"
#include "replay/build_plan.h"
#include "replay/dump_calls.h"

namespace ncclog {

/// A group that the plan takes calls of; its place in the plan is that in the list.
struct DumpedGroup {
  const RecordedGroup* group = nullptr;
  std::vector<const RecordedRank*> ranks;  ///< Whose calls are known; at least one.
  DumpWindow window;                       ///< Holds at least one call.
};

/// Those of `groups`, which outlive what is returned.
std::vector<DumpedGroup> dumped_groups(const std::vector<RecordedGroup>& groups,
                                       const RecorderVerdict& verdict, const PlanOptions& options);

/// The plan's ranks, which are those of all groups, by their global rank.
using SeatOfRank = std::map<int, int>;

SeatOfRank seats_of_ranks(const std::vector<DumpedGroup>& groups);

/// Of those global ranks that have one.
std::vector<int> seats_of(const SeatOfRank& seats, const std::vector<int>& ranks);

/// By which plans and reports name the group: the communicator's id where it is known which one it
/// is, else its description ("default_pg"), else its name. Valid UTF-8.
std::string communicator_of(const Job& job, const RecordedGroup& group);

}  // namespace ncclog
