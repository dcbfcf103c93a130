// What did each rank of a group call, and how far did the calls get, by every source that tells?
//
//   lines     communicator 0x9c (8 ranks)    rank 5 entered 28 calls, the others 29
//   recorder  default_pg (8 ranks)           rank 4 called 29, the last one is open; rank 5 called 28,
//                                            all of them completed; rank 6 left no dump
//   watchdog  default_pg                     ranks 0-4 gave up on 29; rank 5 had enqueued 28
//   desync    default_pg                     ranks 0-4 joined 29 and did not finish it
//   ras       communicator 0x9c, AllReduce   rank 5 launched 28, the others 29
//
// The idea: each source gives an account of each group that it knows. An account says of each rank
// how many calls it entered and completed, and what is known of single calls, in one form, so that
// one front (front_of), one comparison (first_difference) and one wait graph
// (diagnose/calls/who_waits.h) serve all sources. A source is an adapter of one page: it says how
// ranks are named, which calls count, and who is absent.
//
// Numbers belong to their source: lines are counted, c10d numbers its works per group, RAS counts
// by function. Calls are numbered from 1 in all of them, but call 29 of one account is call 29 of
// another only where their calls are proven to run side by side (short_logs); nothing is guessed.
// A process group joins a communicator only where both have exactly the same ranks and no other
// group has them.
//
// The cost: an entry a rank and group, and one a call that the Recorder or a watchdog holds. Calls
// of lines stay what model/calls.h keeps of them: a count, a hash, the last few hundred.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/majority.h"
#include "model/calls.h"
#include "model/flight_recorder.h"
#include "model/job.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {

/// Who tells of calls, the most telling first.
enum class CallSource {
  Lines,     ///< NCCL's COLL or CALL lines.
  Recorder,  ///< Dumps of PyTorch's Flight Recorder.
  Watchdog,  ///< Lines of PyTorch's watchdogs.
  Desync,    ///< The report that a watchdog prints with TORCH_NCCL_DESYNC_DEBUG.
  Ras,       ///< The last answer of NCCL's RAS service.
};

/// How much of what a rank called does the source show?
///
///   its file is whole and holds COLL lines            → Counted: it made exactly these calls
///   its file is cut                                   → AtLeast: it made these, perhaps more
///   its file begins at another opCount than others'   → Unknown: places in them are not alike
///   no file, COLL not on, torn lines, no dump         → Unknown
///
/// Only a counted rank can be said not to have made a call. A file that was cut exactly at the end
/// of a line looks whole, and only another source can tell (short_logs); whoever draws conclusions
/// needs a sign that the job stopped, too.
enum class CallCoverage { Unknown, AtLeast, Counted };

/// Why lines show less of a rank's calls than all of them, the first that holds.
enum class CallDoubt {
  None,
  NoLines,    ///< Its process prints no calls, or is not seen.
  Torn,       ///< Lines of its process are torn or in doubt.
  LeftOut,    ///< Ray left lines out.
  Restarted,  ///< Its pid may have had two lives.
  Scattered,  ///< Its lines stand in several inputs: copies, or parts of an unknown order.
  Headless,   ///< What came before its first line is missing.
  Guessed,    ///< To which of several communicators it belongs is not told.
  Gap,        ///< Lines are lost between others, or stand there twice: Communicator::gaps.
  Cut,        ///< Its file ends early.
};

/// How far a call got, as far as its source follows calls.
enum class CallState {
  Entered,   ///< The host made it; whether it ended is not told.
  Open,      ///< Seen scheduled or started, and not completed.
  TimedOut,  ///< Somebody waited in it until a limit.
  Completed,
};

/// One call of a rank that its source shows by itself. Lines do not: their calls are in
/// LedgerRank::lines.
struct LedgerCall {
  uint64_t number = 0;
  CallState state = CallState::Entered;
  const FlightRecorderEntry* entry = nullptr;  ///< Of the Recorder; owned by the job.
  /// Of a watchdog; owned by the job's answers. nullptr where only its status is there.
  const TimedOutWork* work = nullptr;
  std::string op = {};  ///< Of a desync report: "ALLREDUCE"; empty: not told.
};

/// One rank in an account.
struct LedgerRank {
  /// The global rank; of Lines and RAS that in the communicator, of Desync that in the group; -1:
  /// unknown.
  int rank = -1;
  int process = -1;  ///< Into Job::processes; -1: unknown.
  CallCoverage coverage = CallCoverage::Unknown;
  /// No call of the rank is open, in any group that the source tells of: it waits for nobody.
  bool is_idle = false;
  /// Number of the last call that it entered; 0: none. Of Watchdog when the others gave up.
  uint64_t entered = 0;
  std::optional<uint64_t> completed;       ///< Of the last one that completed; nullopt: not told.
  const CollectiveCalls* lines = nullptr;  ///< Of Lines; nullptr: none were seen. Owned by the job.
  const FlightRecorderDump* dump = nullptr;  ///< Of the Recorder; nullptr: none that can be used.
  const WorkProgress* progress = nullptr;    ///< Of a watchdog: the line that says `entered`.
  std::vector<LedgerCall> calls;             ///< By number; the first ones may lack.

  /// The call of that number; nullptr if the source does not show it by itself.
  const LedgerCall* call(uint64_t number) const;
  /// It is seen to wait in that call.
  bool waits_in(uint64_t number) const;
};

/// What one source tells of one group.
struct CallAccount {
  CallSource source = CallSource::Lines;
  /// Into Job::communicators; of a process group the one that surely is its own, else -1.
  int communicator = -1;
  std::string group;        ///< Name of the process group, the same on all its ranks.
  std::string description;  ///< "default_pg"; may be empty.
  std::string function;     ///< Of Ras: the only one that is counted.
  SourceRef line;           ///< Of Desync: where the report tells who joined.
  /// One number means one call on all ranks. Point-to-point and coalesced calls move the numbers of
  /// single ranks on, and ranks that called different things cannot be counted against each other.
  bool is_numbered_alike = true;
  int unseen = 0;  ///< Ranks of the group of which not even a number is known.
  /// All of the group as far as they are known. Of Lines as Communicator::ranks, else by rank.
  std::vector<LedgerRank> ranks;
};

/// All that a source tells; Lines of each communicator, in the job's order, RAS of each communicator
/// and function whose counts differ, by both. Of several runs neither dumps nor RAS say anything:
/// their ranks have the same numbers. It views the job and its answers.
const std::vector<CallAccount>& call_ledger(const Job& job, CallSource source);

// The adapters that are more than a page, for call_ledger alone: whoever judges asks that, which
// keeps their answers. Pure.

/// Of each group of which dumps tell the ranks, by name. Dumps that disagree about a group's ranks
/// are of different jobs: such a group is left out. None of several runs.
std::vector<CallAccount> recorder_accounts(const Job& job);

/// Which of two dumps of one rank is older: by their last calls' times, else by how many calls their
/// groups counted. Unordered: neither tells, and they are not equal.
std::partial_ordering age_order(const FlightRecorderDump& one, const FlightRecorderDump& other);

/// Of each group on whose collectives watchdogs gave up, by name; "" is the group of all ranks.
std::vector<CallAccount> watchdog_accounts(const Job& job);

/// Of each group of which a desync report tells, by name; "": not known which.
std::vector<CallAccount> desync_accounts(const Job& job);

/// What an answer of RAS says of operation counts that differ, by communicator and function.
using OperationCounts =
    std::map<std::pair<std::string, std::string>, std::vector<const RasStatement*>>;
OperationCounts operation_counts(const RasReport& report);

/// Of the statements about one communicator and function, what each rank launched: those that are
/// listed, and, of a communicator of `nranks`, all others of the one group that is not.
std::map<int, uint64_t> launched_by_rank(const std::vector<const RasStatement*>& statements,
                                         int64_t nranks);

/// Of Watchdog: the call on which most ranks gave up; of other sources nullopt.
std::optional<uint64_t> given_up(const CallAccount& account);

/// Where ranks gave up, by the number of the first call on which each did; they are places in
/// CallAccount::ranks. Who gave up on nothing is not there.
std::map<uint64_t, std::vector<int>> stops_of(const CallAccount& account);

/// What the lines lack of a rank's calls.
CallDoubt call_doubt(const Job& job, const Communicator& comm, const CommRank& rank);

/// What of a rank's calls the lines show.
CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank);

// How far had the ranks of a group come, and who is behind?
//
//   world, 8 ranks: call 29 was entered by ranks 0-4, 6 and 7; rank 5 had made 28 calls
//       → front 28, behind {5}, unknown {}
//
// Only collectives count; their order is the same on all ranks. Ranks that are not counted are
// unknown and never behind.

/// Ranks are places in CallAccount::ranks.
struct CallFront {
  int communicator = -1;    ///< As CallAccount::communicator.
  uint64_t front = 0;       ///< Calls that every counted rank made: the first one open is the next.
  uint64_t furthest = 0;    ///< Most calls of a rank.
  std::vector<int> behind;  ///< Counted ranks at the front.
  std::vector<int> ahead;   ///< Those that entered the call behind it; empty if nobody did.
  std::vector<int> unknown;  ///< Not counted.
  int unseen = 0;            ///< Ranks of which not even a number is known.
  /// All of the job's ranks whose calls are unknown gave up on a work: they wait, wherever they
  /// are, and nobody is held up by them alone.
  bool unknown_wait = false;

  bool is_open() const { return !ahead.empty(); }
  bool counts_all() const { return unknown.empty() && unseen == 0; }
  bool knows_all() const { return counts_all() || unknown_wait; }
};

/// The front of a group. Where ranks cannot be counted against each other, or those ahead are not
/// seen to wait in that call, or those behind wait in an earlier one, nobody is behind or ahead.
CallFront front_of(const CallAccount& account);

// From which call on do the ranks of a group differ?
//
//   call 0 … 19  the same on all four ranks
//   call 20      ranks 0-2: AllReduce of 1048576 float32, rank 3: AllReduce of 524288 float32

/// Reads the log of a rank again from the line `from` on and returns its next collectives on that
/// communicator, at most `most` of them. Fewer, or none, where the input cannot be read again.
using CallReader =
    std::function<std::vector<PlacedCall>(const CommRank& rank, SourceRef from, uint64_t most)>;

/// Sets Communicator::difference and gaps of all communicators whose difference is not known
/// exactly, from the ranks whose calls are covered, as far as each goes: one that only ends earlier
/// does not differ, nor does one whose log only lacks lines or has some twice. Hashes of prefixes say where: within the calls that are kept, or at checkpoints. Between
/// two checkpoints that stretch of the log is read again; without a reader the answer is a range.
void find_differences(Job& job, const CallReader& reader);

/// Reads lines again and returns their texts, by place; those that cannot be read again are missing.
using TextsOfLines =
    std::function<std::map<SourceRef, std::string>(const std::vector<SourceRef>& places)>;

/// Sets FirstDifference::is_numbered of exact differences; where numbers show that no line is lost
/// in a gap, it becomes a difference.
void number_differences(Job& job, const TextsOfLines& read_texts);

/// Ranks, as places in CallAccount::ranks, that made the same call.
using LedgerCamp = Camp<const LedgerCall*>;

/// Ranks of a group that called different things by one number.
struct LedgerDifference {
  uint64_t number = 0;
  std::vector<LedgerCamp> camps;  ///< At least two.
  std::string fields;             ///< "size", "function, dtype": in what the first two differ.
};

/// The first difference between calls that an account of the Recorder, of a watchdog or of a desync
/// report shows one by one. nullopt if they agree as far as they go, or cannot be compared, or if the ranks that differ
/// completed the call all the same.
std::optional<LedgerDifference> first_difference(const CallAccount& account);

/// One number means the same call on all ranks there, as far as the account shows the call before.
bool is_anchored(const CallAccount& account, uint64_t number);

// Whose log shows fewer calls than its process certainly made?
//
//   rank 3's file ends after its 17th collective on the world's communicator; its Flight Recorder's
//   dump holds 29 on the group of the same ranks, and where both tell, they are the same calls
//       → the log lacks lines: of rank 3 it must not be said that it made no 18th call
//
// So does the watchdog of any rank: "last completed NCCL work: 28" of the group of all ranks.
// c10d's numbers and NCCL's calls run side by side only while nothing is coalesced and no other
// library uses the communicator: a witness counts where both agree on other ranks.

/// A rank whose log lacks calls of one communicator.
struct ShortLog {
  int process = -1;         ///< Into Job::processes.
  int communicator = -1;    ///< Into Job::communicators.
  uint64_t shown = 0;       ///< Collectives that its log shows.
  uint64_t made = 0;        ///< Collectives that it made at least; more than one more than shown.
  bool ends_early = false;  ///< Those shown are the first ones; else some between them are missing.
  CallSource by = CallSource::Recorder;  ///< Who tells of the calls that the log lacks.
};

/// By communicator, then rank. Pure; the same before and after mark_short_logs.
std::vector<ShortLog> short_logs(const Job& job);

/// Has call_coverage count no such rank: its process becomes cut, or torn where lines are missing
/// in the middle. Needs the communicators and the dumps.
void mark_short_logs(Job& job);

}  // namespace ncclog
