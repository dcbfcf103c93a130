// From a job, its calls and a finding to a plan, or why there can be none. Pure.
//
//   plan of timeout-rank-skips, --last 32
//       8 ranks, 1 communicator, 28 calls that all made; hypothesis: rank 5 leaves out call 28

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_calls.h"
#include "replay/plan/recorded_defect.h"

namespace ncclog {

// Can a plan be made of these logs at all?
//
//   no Init COMPLETE, and it failed   → no: nothing was called
//   INIT,NET only, no COLL            → no: nobody knows what was called; what to set next time
//   COLL lines, but no INIT lines     → no: nobody knows which ranks a communicator joins
//   calls of one rank of eight        → no: its partners are unknown

/// Throws Error with the reason and what to capture if `members`, as covered_members(job) gives
/// them, are too few for a plan. `suspicions` are the analysis' findings, causes first: the first
/// testable one says why a job failed before it called anything.
void refuse_unknown_calls(const Job& job, const std::vector<Membership>& members,
                          const std::vector<Suspicion>& suspicions);

/// True if the job failed and NCCL's lines show that no communicator was ever complete, so that no
/// call can have been made. False where that is not known.
bool failed_before_calls(const Job& job);

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

/// True if a replay can make that call.
bool can_be_planned(const CallSignature& call);

/// The call as the member made it, on stream 0 and in no group. A root that takes no part becomes
/// the lowest rank that does.
PlannedCall planned_call(const Job& job, const PlanSeats& seats, const RecordedCall& call);

/// What the user asks of a plan.
struct PlanOptions {
  uint64_t last = 32;         ///< Calls of each communicator before it stands still.
  bool only_failing = false;  ///< Only the communicator that stands still.
  int gpus = 0;               ///< Ranks at most; 0: all.
  std::string finding;        ///< Id of the finding to be tested; empty: the first that fits.
};

/// What a plan is made of.
struct PlanSource {
  const Job& job;
  const RecordedCalls& recorded;
  std::vector<Suspicion> suspicions;  ///< All findings of the analysis, causes first.
  std::vector<std::string> logs;      ///< As the user named them.
};

/// The suspicion that is tested: that with the id `finding` or, where that is empty, the first
/// testable one that names a communicator, else the first testable one; without an id if there is
/// none. Throws Error if none has that id, or the one that has it cannot be tested.
Suspicion choose_suspicion(const std::vector<Suspicion>& suspicions, const std::string& finding);

/// Throws Error if the finding is none of the testable suspicions, if nothing stands still although
/// a finding is named or only what stands still is wanted, or if no call is left.
ReplayPlan build_plan(const PlanSource& source, const PlanOptions& options);

}  // namespace ncclog
