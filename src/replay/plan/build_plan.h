// From a job, its calls and a finding to a plan, or why there can be none. Pure.
//
//   plan of timeout-rank-skips, --last 32
//       8 ranks, 1 communicator, 28 calls that all made; hypothesis: rank 5 leaves out call 28

#pragma once

#include <fmt/args.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "diagnose/network/connections.h"
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

/// Where the calls of the job go wrong, and whose they are. None: nothing shows that they do.
struct RecordedDefect {
  DefectKind kind = DefectKind::None;
  int communicator = -1;  ///< Into Job::communicators.
  uint64_t index = 0;     ///< Where it stands still, as PlannedCall::index.
  std::vector<Membership> entered;
  std::vector<Membership> missing;
  std::vector<Membership> diverged;
  /// Calls that the clean run makes in addition. The member's own calls from that number on, on the
  /// communicator or with that peer, are then made in the defect run only.
  std::vector<RecordedCall> added;
  /// By member: its call before which the added one belongs. Absent: where it belongs is not known.
  std::map<Membership, RecordedCall> before;
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
ReplayPlan build_plan(const PlanSource& source, const RecordedCalls& recorded,
                      const PlanOptions& options);

// How does every plan begin and end, whatever its calls were taken from, lines of NCCL or dumps of
// the Flight Recorder?
//
//   begins   with the job's releases, the number of its ranks, hosts
//   ends     at the call in question, with transports, settings (NCCL_ALGO=Ring as recorded,
//            NCCL_SOCKET_IFNAME=bond0 left out), and what the plan lost of the job, in sentences

// Over which transports do the ranks of a communicator reach each other, by class, and with which
// algorithms and protocols?
//
//   Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM            → P2P: 1 connection
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3      → NET/IB: 1 connection
//
// A line of a connection numbers ranks within a communicator and does not name it. A connection is
// counted for every communicator that it may belong to, so that the recorded job and its replay are
// measured alike.

/// "P2P", "SHM", "NET/IB", "NET/Socket", "NET/<name of another network>", "other".
std::string transport_class_name(const PathParts& path);

/// The classes by name, with the pairs of ranks (and their direction) that use each. `edges` as
/// edges_of(job) gives them. Empty: no line of a connection fits the communicator.
std::vector<TransportShare> seen_transports(const Communicator& comm, std::span<const Edge> edges);

/// How operations were run, added up over those of Job::logs: by op, algorithm, protocol. What is
/// of no operation by name is left out.
std::vector<RecordedTuning> seen_tuning(const Job& job, std::span<const size_t> logs);

// Which of the job's settings does a replay take over?
//
//   NCCL_ALGO=Ring                as recorded
//   NCCL_SOCKET_IFNAME=bond0      left out: names a network interface of the recorded machine
//   CUDA_VISIBLE_DEVICES=4,5      left out: names GPUs of the recorded machine
//
// What describes the recorded machine, writes files, or brings in code from elsewhere stays out,
// and the plan says so.

/// Why a replay does not set that variable to that value; empty: it does.
std::string_view why_left_out(std::string_view name, std::string_view value);

// Does a run of a plan come to its end if everybody does what the plan says, and to which calls
// does the run come in which all ranks behave?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//
// A plan's calls are played through (diagnose/calls/rank_programs.h). So only what cannot end is
// called a deadlock; a real run may wait more: one communicator's calls on several streams follow
// one another, and the first call of a kind waits for connections.
//
// What does not end that way is no part of the clean run. So the clean run of a plan is complete by
// construction, whatever the logs lack.
//
// A Send ends with its Recv, as large messages do; with `buffers_sends` it ends by itself, as small
// messages may, while NCCL's buffers have room.

/// The plan with the calls of its clean run numbered as NCCL counts in the run, from 0, so that a
/// call that is missing leaves no gap.
ReplayPlan numbered_by_order(ReplayPlan plan);

/// The stream on which a rank last made a call like that one.
int usual_stream(const std::vector<PlannedCall>& calls, const PlannedCall& call);

// Which calls does a run in which all ranks behave come to?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → both AllReduce; the Send has no Recv, so it belongs to the defect run only

/// For each rank of the plan and each of its calls, whether the clean run comes to its end. False
/// for calls of the defect run.
std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan, bool buffers_sends = false);

/// All its calls come to their ends.
bool clean_run_ends(const ReplayPlan& plan, bool buffers_sends = false);

/// Moves calls of both runs that do not end in the clean run to the defect run, and removes those
/// of the clean run. Groups stay whole.
void settle_clean_run(ReplayPlan& plan, bool buffers_sends);

// What a plan lost of the job, and what no replay of it can show: in sentences.

/// What is wanted of a plan's clean run, and what was done to the plan on the way.
struct PlanMaking {
  bool extends_clean_run = false;   ///< Who is missing at the front makes what others wait for.
  bool has_to_reach = false;        ///< Without the call at the front the plan tests nothing.
  size_t runs = 1;                  ///< That the logs hold; one of them is planned.
  bool from_dumps = false;          ///< Its calls are the Flight Recorder's, not NCCL's.
  std::vector<std::string> absent;  ///< Sentences about ranks of which there is no dump.
  bool no_hosts = false;            ///< The dumps' processes, and so their hosts, are not known.
  bool split = false;               ///< The dumps differ, and no majority says who is right.
  uint64_t not_replayable = 0;      ///< Calls that no replay can make.
  bool guessed_groups = false;      ///< Some group rests on opCounts.
  bool ungrouped = false;           ///< Messages stand alone that may have been a group.
  bool counts_bytes = false;        ///< Some AllGather or Broadcast is known in bytes only.
  uint64_t unmet = 0;               ///< Calls of a healthy plan that not all made; dropped.
  uint64_t awaited = 0;  ///< Calls that late ranks make in the clean run for those who wait.
  uint64_t after = 0;    ///< Calls after the one in question, on its communicator; dropped.
  bool clean_run_ends_before = false;  ///< The clean run did not come to the call in question.
  bool buffers_sends = false;          ///< Sends end by themselves, in NCCL's buffers.
};

/// A line of a table of sentences, as the build makes it.
struct SentenceRow {
  std::string_view part;
  std::string_view kind;        ///< "*": any.
  std::string_view conditions;  ///< Names between blanks, behind '!' those that must not hold.
  std::string_view sentence;    ///< With names of texts in braces.
};

/// What holds of a plan or a replay, and so which sentences of a table are said.
struct Telling {
  std::span<const SentenceRow> table;
  std::map<std::string, bool, std::less<>> conditions;
  fmt::dynamic_format_arg_store<fmt::format_context> texts;

  void add(const std::string& name, const std::string& text);
  /// The condition that there is any, and the texts of the number (see plan_words.table).
  void add_count(const std::string& name, uint64_t count);
  /// The sentences of that part for that kind, in the order of the table.
  std::vector<std::string> say(std::string_view part, std::string_view kind = {}) const;
};

/// That of plan_words.table.
extern const std::span<const SentenceRow> kPlanWords;

/// Throws Error with what plan_words.table says of that refusal.
[[noreturn]] void refuse_plan(std::string_view why,
                              const std::vector<std::pair<std::string, std::string>>& texts = {});

/// "Communicator 0x9c1b… is made without rank 3: the logs do not show what it called." `absent` are
/// ranks in it, or empty where only their number, `count`, is known.
std::string absent_words(const std::string& communicator, size_t count,
                         const std::vector<int>& absent);

/// A plan that says what it is of, and holds no ranks yet. `logs` as the user named them.
ReplayPlan begin_plan(const Job& job, const std::vector<std::string>& logs);

/// The ranks of those seats, without calls.
std::vector<PlannedRank> planned_ranks(const Job& job, const PlanSeats& seats);

/// Throws Error if a finding is named, or only what fails is wanted, and there is no defect.
void refuse_untested(const PlanOptions& options, DefectKind defect);

/// Settles what the runs of the plan come to, over the calls that it holds and for the hypothesis
/// that it has, as `making` wants it, and says there what that took. Of a healthy plan only what all
/// made is left.
void fit_calls(ReplayPlan& plan, PlanMaking& making);

/// Ends the plan at its front, takes back what its calls cannot show, adds settings and remarks,
/// and leaves ranks out if there are more than wanted. `seats` are the plan's ranks, or none where
/// their processes are not known. Throws Error if no call is left.
ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan);

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

/// The plan. Throws Error if the finding is none of the testable suspicions, if a finding or "only
/// failing" is wanted and the dumps show no call that stands still, or if no call is left. Pure.
ReplayPlan plan_of_dumps(const PlanSource& source, const PlanOptions& options);

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
