// From a job, its calls and a finding to a plan, or why there can be none. Pure.
//
//   plan of timeout-rank-skips, --last 32
//       8 ranks, 1 communicator, 28 calls that all made; hypothesis: rank 5 leaves out call 28

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/flight_recorder.h"
#include "model/job.h"
#include "model/ledger/call_ledger.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_calls.h"

namespace ncclog {

// What went wrong with the calls of a job, and what the ranks would have to do for it to go well?
//
//   world, call 28: ranks 0-4, 6, 7 AllReduce, rank 5 AllGather, which the others call next
//       → a missing call; rank 5 would have to make the AllReduce before its AllGather
//   4 messages from rank 0 to rank 3, and 3 Recv
//       → a message; rank 3 would have to receive once more
//
// All of it rests on facts of the job that rules rest on, too: differences, fronts, departures,
// unmatched messages. Where nothing shows that the job stopped, ranks that are a few calls apart
// prove nothing, and there is no defect.

/// A finding of the analysis, as far as a plan needs it.
struct Suspicion {
  std::string id;
  std::string title;
  std::string communicator;  ///< Communicator::id; empty: it names none.
  std::vector<int> ranks;    ///< Of the job, that it blames.
  bool is_testable = true;   ///< False: advice or a remark, which no call can show.
};

/// A call that the clean run makes in addition. The member's own calls from that number on, on the
/// communicator or with that peer, are then made in the defect run only.
struct AddedCall {
  RecordedCall call;
  /// The member's call before which it belongs; nullopt: where it belongs is not known.
  std::optional<RecordedCall> before;
};

/// Where the calls of the job go wrong, and whose they are. None: nothing shows that they do.
struct RecordedDefect {
  DefectKind kind = DefectKind::None;
  int communicator = -1;  ///< Into Job::communicators.
  uint64_t index = 0;     ///< Where it stands still, as PlannedCall::index.
  std::vector<Membership> entered;
  std::vector<Membership> missing;
  std::vector<Membership> diverged;
  std::vector<AddedCall> added;
  /// The member's calls from that one on, on that communicator, are made in the defect run only.
  std::vector<RecordedCall> struck;
  /// The member came to that call too late: it and what comes after it are made in the clean run
  /// only.
  std::vector<RecordedCall> late;
};

/// The defect of the job, that of the suspicion's communicator and ranks if there are several.
/// `members` are those that a plan may hold. Pure.
RecordedDefect find_defect(const Job& job, const std::vector<Membership>& members,
                           const Suspicion& suspicion);

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
  size_t runs = 1;                    ///< In these logs; `job` is one of them.
};

/// The suspicion that is tested: that with the id `finding` or, where that is empty, the first
/// testable one that names a communicator, else the first testable one; without an id if there is
/// none. Throws Error if none has that id, or the one that has it cannot be tested.
Suspicion choose_suspicion(const std::vector<Suspicion>& suspicions, const std::string& finding);

/// Throws Error if the finding is none of the testable suspicions, if nothing stands still although
/// a finding is named or only what stands still is wanted, or if no call is left.
ReplayPlan build_plan(const PlanSource& source, const PlanOptions& options);

// A plan of the calls that PyTorch's Flight Recorder dumped, where no line of NCCL tells them.
//
//   default_pg: ranks 0-4, 6, 7 called collective 29, AllReduce of 1048576 Float; rank 5 called 28
//       → 8 ranks and the last 32 calls before 29; in the clean run rank 5 makes 29, too
//
// Dumps number collectives by group, and say of which function, size and type they were. They name
// no reduction, no root, no stream and no buffer: so calls are replayed as sums, with root 0, each
// group on a stream of its own. Groups whose calls the dumps do not number alike (messages,
// coalesced calls) are left out. What differs is what diagnose/calls/call_verdict.h says.

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
std::string communicator_of(const Job& job, const CallAccount& group);

/// True if two ranks of some group left dumps of calls that are numbered alike.
bool dumps_hold_calls(const Job& job);

/// The plan. `logs` as the user named them, which hold `runs` runs; `suspicion` is what it is to
/// test, and may be of no id.
/// Throws Error if a named finding or "only failing" is wanted and the dumps show no call that
/// stands still, or if no call is left. Pure.
ReplayPlan plan_of_dumps(const Job& job, const Suspicion& suspicion, const PlanOptions& options,
                         const std::vector<std::string>& logs, size_t runs = 1);

// The same test on fewer GPUs.
//
//   8 ranks on 2 hosts, rank 5 diverged; 2 GPUs
//       → ranks 5 and 0: the one that diverged, and a witness on the other host; rank 0 stands for
//         the six that made the same calls
//
// Whoever diverged stays, then the roots that the call in question names, then ranks of the
// communicator that stands still; ranks of other pseudo-hosts are preferred, so that what went
// between hosts goes between pseudo-hosts.

/// The ranks of the plan that `gpus` of them are best spent on, ascending; all if it has no more.
std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus);

/// The plan with `gpus` ranks at most; unchanged if it has no more. Throws Error below two GPUs,
/// and with how many would do where the two runs would no longer differ.
ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus);

}  // namespace ncclog
