// A plan of the calls that PyTorch's Flight Recorder dumped, where no line of NCCL tells them.
//
//   default_pg: ranks 0-4, 6, 7 called collective 29, AllReduce of 1048576 Float; rank 5 called 28
//       → 8 ranks and the last 32 calls before 29; in the clean run rank 5 makes 29, too
//
// Dumps number collectives by group, and say of which function, size and type they were. They name
// no reduction, no root, no stream and no buffer: so calls are replayed as sums, with root 0, each
// group on a stream of its own. Groups whose calls the dumps do not number alike (messages,
// coalesced calls) are left out. What differs is what diagnose/recorder_verdict.h says.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/recorder_verdict.h"
#include "model/job.h"
#include "model/recorded_group.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_defect.h"

namespace ncclog {

// From an entry of the Flight Recorder to a call that a replay can make.
//
//   nccl:_all_gather_base, input [[1024]] BFloat16, output [[8192]]
//       → AllGather of 1024 bfloat16

/// The call of collective `entry.collective_seq_id` of a group of `nranks` ranks; communicator and
/// stream are not set. nullopt: it is none that a replay can make, or the dump does not tell its
/// size or type.
std::optional<PlannedCall> call_of_entry(const FlightRecorderEntry& entry, size_t nranks);

/// The collectives of a group that a plan takes, by c10d's numbers, of which 1 is the first.
struct DumpWindow {
  int64_t from = 1;
  int64_t to = 0;                 ///< The last one; below `from`: none.
  std::vector<int64_t> left_out;  ///< Of these, those that a replay cannot make on some rank.

  bool holds(int64_t number) const;
};

/// The ranks of the group whose calls are known, by rank; fewer than two: none is returned.
std::vector<const RecordedRank*> known_ranks(const RecordedGroup& group);

/// The `last` collectives up to number `common`, which all known ranks called alike, and what some
/// called beyond them.
DumpWindow dump_window(const RecordedGroup& group, int64_t common, uint64_t last);

// Which groups and ranks of the Flight Recorder's dumps does a plan take?
//
//   default_pg: ranks 0-4, 6 and 7 left dumps   → their last 32 calls; seats 0-6 of the plan
//   tp_1: one rank left a dump                  → nothing: who called alike is not known

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

/// True if two ranks of some group left dumps of calls that are numbered alike.
bool dumps_hold_calls(const Job& job);

/// The plan. `logs` as the user named them; `suspicion` is what it is to test, and may be of no id.
/// Throws Error if a named finding or "only failing" is wanted and the dumps show no call that
/// stands still, or if no call is left. Pure.
ReplayPlan plan_of_dumps(const Job& job, const Suspicion& suspicion, const PlanOptions& options,
                         const std::vector<std::string>& logs);

}  // namespace ncclog
