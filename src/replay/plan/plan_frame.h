// How every plan begins and ends, whatever its calls were taken from: lines of NCCL
// (replay/plan/build_plan.h) or dumps of the Flight Recorder (replay/plan/dump_plan.cc).
//
//   begins   with the job's releases, the number of its ranks, hosts
//   ends     at the call in question, with transports, settings (NCCL_ALGO=Ring as recorded,
//            NCCL_SOCKET_IFNAME=bond0 left out), and what the plan lost of the job, in sentences

#pragma once

#include <fmt/args.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "diagnose/network/connections.h"
#include "model/job.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/recorded_calls.h"

namespace ncclog {

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

/// How a Send ends.
enum class SendEnds {
  WithItsRecv,  ///< As large messages do.
  ByItself,     ///< As small messages may, while NCCL's buffers have room.
};

/// How calls are numbered by which they meet.
enum class Numbered {
  AsRecorded,  ///< By PlannedCall::index, so that a call that is missing leaves a gap.
  ByOrder,     ///< From 0, as NCCL counts in the run.
};

/// The stream on which a rank last made a call like that one.
int usual_stream(const std::vector<PlannedCall>& calls, const PlannedCall& call);

// Which calls does a run in which all ranks behave come to?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → both AllReduce; the Send has no Recv, so it belongs to the defect run only

/// For each rank of the plan and each of its calls, whether the clean run comes to its end. False
/// for calls of the defect run.
std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan,
                                               SendEnds sends = SendEnds::WithItsRecv,
                                               Numbered numbered = Numbered::AsRecorded);

/// All its calls come to their ends.
bool clean_run_ends(const ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv,
                    Numbered numbered = Numbered::AsRecorded);

/// Lets the ranks that are missing at `front` make the calls in which others wait for them, one
/// after the other and, if the front is a message, only messages, until the clean run comes to the
/// end of the call there, or nobody waits any more. Gives how many others than that call were
/// added, 64 at most.
uint64_t extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message,
                          SendEnds sends = SendEnds::WithItsRecv);

/// Moves calls of both runs that do not end in the clean run to the defect run, and removes those
/// of the clean run. Groups stay whole.
void settle_clean_run(ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv);

// What a plan lost of the job, and what no replay of it can show: in sentences.

/// What was done to a plan on the way.
struct PlanMaking {
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
  bool buffers_sends = false;          ///< The clean run ends only while NCCL buffers messages.
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

/// What the clean run of a plan is wanted to come to.
struct CleanRunGoal {
  DefectKind kind = DefectKind::None;
  FrontLine front;            ///< The call in question, and who is missing there.
  bool is_extended = false;   ///< Who is missing makes the calls in which others wait for them.
  bool has_to_reach = false;  ///< Without that call the plan tests nothing.
};

/// Settles what the runs of the plan come to, over the calls that it holds, and says in `making`
/// what that took. Of a healthy plan only what all made is left.
void fit_calls(const CleanRunGoal& goal, SendEnds sends, ReplayPlan& plan, PlanMaking& making);

/// Ends the plan at its front, takes back what its calls cannot show, adds settings and remarks,
/// and leaves ranks out if there are more than wanted. `seats` are the plan's ranks, or none where
/// their processes are not known. Throws Error if no call is left.
ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan);

}  // namespace ncclog
