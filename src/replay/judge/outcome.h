// What happened when a plan was carried out: the raw protocol of the runs, without a judgement; and
// what each of the runs shows, held against the record.
//
//   run 1, defect: hung in completion after 30 s; communicator 0, call 28: entered by 0, not by 1;
//                  both ranks ended on abort; GPUs 0 and 1 answer, their memory is back
//   run 2, clean:  completed; 29 calls verified, 117440512 elements, none wrong
//
// ncclog-replay writes it (JSON, schema ncclog.replay-outcome/1), replay/judge/verdict.h judges it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"

namespace ncclog {

/// How far a rank came. The order is that of a run.
enum class ReplayPhase { Start, Init, Enqueue, Completion, Teardown, Done };

constexpr std::string_view enum_words(ReplayPhase) {
  return "start|init|enqueue|completion|teardown|done";
}
constexpr std::string_view noun_of(ReplayPhase) { return "phase"; }

/// How a run ended.
enum class RunEnd {
  Completed,   ///< All ranks made all their calls and took everything down.
  Hung,        ///< A phase took longer than its deadline.
  Failed,      ///< NCCL or CUDA returned an error.
  Wrong,       ///< Everything was completed, but some element is not what it has to be.
  Died,        ///< A rank's process ended by itself, or was killed by somebody else.
  NotStarted,  ///< The ranks could not be brought up; nothing was tested.
};

constexpr std::string_view enum_words(RunEnd) {
  return "completed|hung|failed|wrong|died|not-started";
}
constexpr std::string_view noun_of(RunEnd) { return "end of a run"; }

/// How a rank's process was brought to its end.
enum class ProcessEnd { ByItself, OnAbort, Terminated, Killed, Lost };

constexpr std::string_view enum_words(ProcessEnd) {
  return "by-itself|on-abort|terminated|killed|lost";
}
constexpr std::string_view noun_of(ProcessEnd) { return "end of a process"; }

/// The first element that is not what it has to be.
struct WrongElement {
  uint64_t call = 0;  ///< Into calls_in() of the rank.
  int64_t element = 0;
  std::string expected;
  std::string found;

  bool operator==(const WrongElement&) const = default;
};

/// What was compared on one rank, of what every element has to be (replay/run/pattern.h).
struct Verification {
  uint64_t calls = 0;       ///< Whose results were compared, element by element, on the device.
  uint64_t elements = 0;    ///< Of those.
  uint64_t wrong = 0;       ///< Elements.
  uint64_t shape_only = 0;  ///< Calls that ran but were not compared: the job's own reductions.
  std::optional<WrongElement> first;

  bool operator==(const Verification&) const = default;
};

/// One rank in one run. `entered` and `completed` count from the start of calls_in().
struct RankOutcome {
  int rank = -1;  ///< Into ReplayPlan::ranks.
  int gpu = -1;   ///< CUDA's index on its host.
  int64_t pid = -1;
  ReplayPhase reached = ReplayPhase::Start;
  uint64_t entered = 0;        ///< Calls that the host began.
  uint64_t completed = 0;      ///< The first so many of them were completed by the GPU.
  std::vector<uint64_t> open;  ///< Places of entered calls that were not completed; the first 64.
  Verification verified;
  ProcessEnd end = ProcessEnd::ByItself;
  int exit_code = -1;       ///< -1: it ended by a signal.
  int signal = 0;           ///< 0: none.
  std::string error;        ///< First error: call, rank, communicator, NCCL's words; empty: none.
  double init_seconds = 0;  ///< To make all communicators; 0: it did not come so far.

  bool operator==(const RankOutcome&) const = default;
};

/// A GPU after a run, asked by a process of its own.
struct GpuCheck {
  int gpu = -1;
  bool answers = false;      ///< It ran a kernel and gave the right result.
  int64_t free_before = -1;  ///< Bytes of its memory; -1: unknown.
  int64_t free_after = -1;
  std::string error;  ///< Why it does not answer; empty: it does.

  bool operator==(const GpuCheck&) const = default;
};

/// Times of one call shape that was repeated, in microseconds. Bandwidths in GB/s (10^9 bytes).
struct CallTiming {
  uint64_t call = 0;  ///< Into calls_in() of rank 0: the shape that was repeated.
  std::string op;
  int64_t bytes = 0;  ///< Of the operation, as replay/plan/plan.h counts.
  int runs = 0;
  double cold_us = 0;    ///< First time on a new communicator.
  double median_us = 0;  ///< Of the runs after the first; the slowest rank of each counts.
  double least_us = 0;
  double most_us = 0;
  double algbw = 0;  ///< Of the median.
  double busbw = 0;
  /// Of as many runs back to back, over their number, as nccl-tests measures: without the launches
  /// that single runs of small calls show. 0: not taken.
  double series_us = 0;
  double series_busbw = 0;

  bool operator==(const CallTiming&) const = default;
};

/// One run of a plan, as its coordinator saw it.
struct RunOutcome {
  MadeIn mode = MadeIn::Clean;                                ///< Clean or Defect.
  std::vector<std::pair<std::string, std::string>> settings;  ///< What was varied in this run.
  RunEnd end = RunEnd::NotStarted;
  ReplayPhase phase = ReplayPhase::Start;  ///< Where it ended, unless it was completed.
  std::optional<FrontLine> front;          ///< Where it stood still; nullopt: it did not.
  std::string reason;                      ///< One sentence; empty: completed.
  double seconds = 0;  ///< From before the first process is started to the last one's end.
  std::vector<RankOutcome> ranks;      ///< By rank of the plan.
  std::vector<GpuCheck> gpus;          ///< After it, by index.
  std::vector<std::string> leftovers;  ///< What had to be removed or could not be: /dev/shm/nccl-…
  std::vector<CallTiming> timings;     ///< Clean runs, if times were asked for.
  std::string logs;  ///< Folder of its NCCL logs, relative to the outcome's own; empty: none.

  bool operator==(const RunOutcome&) const = default;
};

/// A GPU of the replaying machine, as CUDA tells of it.
struct ReplayGpu {
  int gpu = -1;
  std::string name;    ///< "NVIDIA H200".
  std::string bus_id;  ///< "0000:0a:00.0".
  int64_t memory = 0;  ///< Bytes.

  bool operator==(const ReplayGpu&) const = default;
};

/// What ncclog-replay found out, without a judgement; schema ncclog.replay-outcome/1.
struct ReplayOutcome {
  static constexpr std::string_view kSchema = "ncclog.replay-outcome/1";

  std::string tool_version;
  std::string plan;          ///< SHA-256 of the plan's file.
  std::string refused;       ///< Why nothing was run, one sentence; empty: it was.
  std::string hint;          ///< What to do about it; may be empty.
  std::string nccl_version;  ///< Of the library that was used; empty: none was loaded.
  std::string nccl_library;  ///< Its path.
  std::string cuda_version;  ///< Runtime.
  std::string driver;        ///< CUDA version that the driver supports.
  int pseudo_hosts = 1;
  std::vector<ReplayGpu> gpus;
  std::vector<std::pair<std::string, std::string>> settings;  ///< NCCL_… in force in every run.
  std::vector<RunOutcome> runs;

  bool operator==(const ReplayOutcome&) const = default;
};

// An outcome as a file: what ncclog-replay writes for ncclog.
//
//   {"schema": "ncclog.replay-outcome/1", "plan": "5f0c…", "runs": [{"mode": "defect", "end":
//    "hung", "phase": "completion", "front": {"communicator": 0, "index": 28, …}, …}]}
//
// Keys are the members of ReplayOutcome, in the order in which they are written;
// src/replay/judge/outcome.schema.json describes it.

/// A setting: its name and its value.
using NamedValue = std::pair<std::string, std::string>;

NCCLOG_JSON_KEYS(NamedValue, "name, value", first, second)

NCCLOG_JSON_FIELDS(WrongElement, call, element, expected, found)

NCCLOG_JSON_FIELDS(Verification, calls, elements, wrong, shape_only, first)
NCCLOG_MAY_LACK(Verification, first)

NCCLOG_JSON_FIELDS(RankOutcome, rank, gpu, pid, reached, entered, completed, open, verified, end,
                   exit_code, signal, error, init_seconds)
NCCLOG_MAY_LACK(RankOutcome, open, signal, error)

NCCLOG_JSON_FIELDS(GpuCheck, gpu, answers, free_before, free_after, error)
NCCLOG_MAY_LACK(GpuCheck, error)

NCCLOG_JSON_FIELDS(CallTiming, call, op, bytes, runs, cold_us, median_us, least_us, most_us, algbw,
                   busbw, series_us, series_busbw)
NCCLOG_MAY_LACK(CallTiming, series_us, series_busbw)

NCCLOG_JSON_FIELDS(RunOutcome, mode, settings, end, phase, front, reason, seconds, ranks, gpus,
                   leftovers, timings, logs)

NCCLOG_JSON_FIELDS(ReplayGpu, gpu, name, bus_id, memory)

NCCLOG_JSON_FIELDS(ReplayOutcome, tool_version, plan, refused, hint, nccl_version, nccl_library,
                   cuda_version, driver, pseudo_hosts, gpus, settings, runs)

/// Equal outcomes give equal bytes. Texts that are not UTF-8 are repaired; a number that is not
/// finite is not known, and 0.
std::string write_outcome(const ReplayOutcome& outcome);

/// The outcome in `text`; `source` is its name for people. Throws Error with the place if it is not
/// one.
ReplayOutcome parse_outcome(std::string_view text, const std::string& source);

/// True if `text` is an outcome of which nothing is lost where another one takes its place: the
/// replay was refused, nothing was run.
bool is_of_a_refusal(const std::string& text);

// What does every replay set by itself, to log, to keep multicast off and to make pseudo-hosts?

/// A variable that a replay sets by itself or leaves to NCCL, whatever it is asked for.
struct OwnSetting {
  std::string_view name;
  std::string_view value;              ///< Empty: none, or another one in each process.
  bool for_pseudo_hosts = false;       ///< Only where there are some.
  std::string_view why_reserved = {};  ///< Why --set cannot have it; empty: it can.
};

inline constexpr OwnSetting kOwnSettings[] = {
#include "replay/judge/own_settings.inc"
};

// Where did a replay stand still, by what its ranks had begun and completed?
//
//   communicator 0   rank 0: … 27 completed, 28 entered       rank 1: … 27 completed, then nothing
//   → communicator 0, call 28: entered by 0, missing 1
//
// Pure: the plan, the mode and what the ranks reported, nothing else. Calls of one communicator are
// paired by order, as NCCL pairs them: the k-th collective of each rank; the k-th Send from one
// rank to another with that one's k-th Recv from it.

/// True if the rank's call at `place` (into calls_in() of its rank) was completed by the GPU.
bool is_completed(const RankOutcome& rank, uint64_t place);

/// The front of one communicator: its first call that was not completed by all with the right data,
/// where some rank has an open call in it, or a wrong one: a call that others skipped may be
/// completed with the data of their next one, and the hang then comes later. Of several open
/// messages those come first whose other end did not come. `ranks` is by rank of the plan. nullopt:
/// the communicator does not stand still.
std::optional<FrontLine> front_of(const ReplayPlan& plan, MadeIn mode, int communicator,
                                  const std::vector<RankOutcome>& ranks);

/// The front that counts: that of the hypothesis' communicator if it stands still, else the first
/// in the plan's order. nullopt: none stands still.
std::optional<FrontLine> front_line(const ReplayPlan& plan, MadeIn mode,
                                    const std::vector<RankOutcome>& ranks);

// What does one run of a replay show, held against what was recorded?
//
//   defect: hung in completion at AllReduce, call 29; rank 0 entered, rank 5 did not → AsRecorded
//   defect: hung at Broadcast, call 3                                                → Elsewhere
//   clean:  completed, 29 calls compared, no element wrong                           → Completed
//   clean:  rank 1 was killed by signal 9 from outside                               → Useless
//
// A run that did not get as far as its calls is useless, too: the recorded job did, so what stopped
// the run is of this machine.

// Where in a plan is a call, and where did a run come to its end?
//
//   communicator 0, index 28  →  "AllReduce, call 29 of communicator 0x9c1b…"
//
// A place is a communicator and the recorded number of a call on it. Ranks that meet there may make
// different calls: that is what a mismatch is.

/// A call by communicator and number: all ranks that make it mean the same one. Defaults: none.
struct CallPlace {
  int communicator = -1;  ///< Into ReplayPlan::communicators.
  uint64_t index = 0;     ///< PlannedCall::index.

  bool operator==(const CallPlace&) const = default;
};

/// The place of a call, or of what a front line stands before.
CallPlace place_of(const PlannedCall& call);
CallPlace place_of(const FrontLine& front);

/// Where the defect should show: the recorded front line; where the job did not stand still, the
/// first call that a diverged rank makes otherwise, with nobody entered or missing. nullopt: the
/// plan is of a healthy stretch.
std::optional<FrontLine> expected_place(const ReplayPlan& plan);

/// Where a run came to its end: its front line; else the first call that a rank with an error had
/// not completed; else the first one with a wrong element. nullopt: no call is to blame.
std::optional<CallPlace> stop_of(const ReplayPlan& plan, const RunOutcome& run);

/// "AllReduce, call 29 of communicator 0x9c1b…": what ranks that behave call there.
std::string place_text(const ReplayPlan& plan, const CallPlace& place);

/// "rank 5", "ranks 0-4,6,7": ranks of the plan by their recorded numbers.
std::string ranks_phrase(const ReplayPlan& plan, std::span<const int> ranks);

/// How a run stands to the record.
enum class RunShows {
  NotRun,
  Useless,     ///< Nothing about the calls.
  AsRecorded,  ///< The fault, at the recorded call; in a defect run with the recorded ranks.
  Elsewhere,   ///< A fault, but another one.
  Completed,   ///< All calls, and no element is wrong.
};

constexpr std::string_view enum_words(RunShows) {
  return "not-run|useless|as-recorded|elsewhere|completed";
}
constexpr std::string_view noun_of(RunShows) { return "reading of a run"; }

/// What one run shows.
struct RunReading {
  RunShows shows = RunShows::NotRun;
  bool compared = false;  ///< Completed: results were compared, element by element.
  bool lost_gpu = false;  ///< A GPU was not free or did not answer after it: later runs suffer.
  std::string why;        ///< Of Useless: one sentence without a full stop.
  std::optional<CallPlace> stop;  ///< Of AsRecorded and Elsewhere; nullopt: no call is to blame.

  bool operator==(const RunReading&) const = default;
};

/// True if the run in which all ranks behave comes to its end only while NCCL has room for messages
/// that nobody receives yet. Of such runs on two H200s (NCCL 2.28.3) one with 4 KiB hung, one with
/// 1 MiB read an illegal address; in groups the same messages completed.
bool leans_on_buffers(const ReplayPlan& plan);

/// `run` may be nullptr: that one was not made.
RunReading read_run(const ReplayPlan& plan, const RunOutcome* run);

/// The results of all ranks together. `first` is not set.
Verification verified_by_all(const RunOutcome& run);

/// One line for people: "defect: hung in completion at AllReduce, call 29 of communicator 0x9c…,
/// entered by rank 0, not by rank 5: as recorded".
std::string run_line(const ReplayPlan& plan, const RunOutcome& run);

/// How the run ended, in a word for tables: "hung-as-recorded", "wrong-at-the-call",
/// "hung-elsewhere"; of a plan without a recorded fault "wrong"; else as to_string(shows).
std::string end_word(const Hypothesis& hypothesis, const RunOutcome& run, RunShows shows);

/// True if a run that came to its end at the recorded call stands still, as the job did. A run in
/// which a diverged rank behaves does not do as was recorded, whatever it does.
bool stood_still_as_recorded(const Hypothesis& hypothesis, const RunOutcome& run);

/// The run of that mode in which that was varied, as variation_text() has it; nullptr: none.
const RunOutcome* find_run(const ReplayOutcome& outcome, MadeIn mode, std::string_view varied);

/// "NCCL_P2P_DISABLE=1, NCCL_ALGO=Ring": what was varied in the run; may be empty.
std::string variation_text(const RunOutcome& run);

}  // namespace ncclog
