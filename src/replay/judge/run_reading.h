// What does one run of a replay show, held against what was recorded?
//
//   defect: hung in completion at AllReduce, call 29; rank 0 entered, rank 5 did not → AsRecorded
//   defect: hung at Broadcast, call 3                                                → Elsewhere
//   clean:  completed, 29 calls compared, no element wrong                           → Completed
//   clean:  rank 1 was killed by signal 9 from outside                               → Useless
//
// A run that did not get as far as its calls is useless, too: the recorded job did, so what stopped
// the run is of this machine.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog {

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
/// first call that a departed rank makes otherwise, with nobody entered or missing. nullopt: the
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
std::string_view to_string(RunShows shows);

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
/// which a departed rank behaves does not do as was recorded, whatever it does.
bool stood_still_as_recorded(const Hypothesis& hypothesis, const RunOutcome& run);

/// The run of that mode in which that was varied, as variation_text() has it; nullptr: none.
const RunOutcome* find_run(const ReplayOutcome& outcome, MadeIn mode, std::string_view varied);

/// "NCCL_P2P_DISABLE=1, NCCL_ALGO=Ring": what was varied in the run; may be empty.
std::string variation_text(const RunOutcome& run);

}  // namespace ncclog
