// A plan of the calls that PyTorch's Flight Recorder dumped, where no line of NCCL tells them.
//
//   default_pg: ranks 0-4, 6, 7 called collective 29, AllReduce of 1048576 Float; rank 5 called 28
//       → 8 ranks and the last 32 calls before 29; in the clean run rank 5 makes 29, too
//
// Dumps number collectives by group, and say of which function, size and type they were. They name
// no reduction, no root, no stream and no buffer: so calls are replayed as sums, with root 0, each
// group on a stream of its own. Groups whose calls the dumps do not number alike (messages,
// coalesced calls) are left out. What differs is what diagnose/calls/flight_recorder.h says.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/calls/flight_recorder.h"
#include "model/flight_recorder.h"
#include "model/job.h"
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
