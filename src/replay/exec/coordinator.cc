#include "replay/exec/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "replay/exec/end_run.h"
#include "replay/exec/hear_ranks.h"
#include "replay/exec/note_ends.h"
#include "replay/exec/poll_list.h"
#include "replay/exec/run_state.h"
#include "replay/exec/stop_signals.h"
#include "replay/front_line.h"

namespace ncclog {
namespace {

using std::chrono::milliseconds;

/// nullptr: it could not be started, and the run is stopped; or that had come before.
std::unique_ptr<ChildProcess> start(RunState& run, const RankProcess& what) {
  if (run.trouble) return nullptr;
  try {
    return std::make_unique<ChildProcess>(what.start);
  } catch (const Error& error) {
    stop_run(run, {RunEnd::NotStarted, ReplayPhase::Start, what.rank,
                   fmt::format("{} {}", error.where(), error.what())});
    return nullptr;
  }
}

void start_processes(RunState& run) {
  for (const RankProcess& what : run.request.processes) {
    HeldProcess process{.what = &what, .child = start(run, what)};
    process.is_over = process.child == nullptr;
    RankOutcome& outcome = run.progress.outcomes()[what.rank];
    outcome.gpu = run.request.gpus[what.rank];
    if (process.child) outcome.pid = process.child->pid();
    run.processes.push_back(std::move(process));
  }
}

bool is_everything_over(const RunState& run) {
  return run.stage == EndStage::GivenUp ||
         std::all_of(run.processes.begin(), run.processes.end(),
                     [](const HeldProcess& process) { return process.is_over; });
}

/// Until something is due although nothing comes.
milliseconds time_left(const RunState& run) {
  // Rounded up: a deadline that is a part of a millisecond away must not be polled for.
  const auto until = [](RunClock::time_point time) {
    return std::chrono::ceil<milliseconds>(time - RunClock::now());
  };
  milliseconds left = std::chrono::hours(1);
  if (run.stage != EndStage::Running) {
    left = until(run.stage_ends);
  } else if (const auto deadline = run.progress.next_deadline()) {
    left = until(deadline->time);
  }
  return is_any_to_be_asked(run.processes) ? std::min(left, milliseconds(50)) : left;
}

void wait(const RunState& run, const Listener& listener) {
  PollList polled;
  polled.add(listener.descriptor());
  polled.add(run.request.stop_descriptor);
  run.connections.add_to(polled);
  for (const HeldProcess& process : run.processes) {
    if (process.is_running()) polled.add(process.child->descriptor());
  }
  polled.wait(time_left(run));
}

void look_for_stop(RunState& run) {
  const int signal = take_stop_signal(run.request.stop_descriptor);
  if (signal == 0) return;
  // Who asks a second time does not want to wait.
  if (run.stage != EndStage::Running) run.stage_ends = RunClock::now();
  if (run.stop_signal != 0) return;
  run.stop_signal = signal;
  stop_run(run, {RunEnd::Died, ReplayPhase::Start, -1,
                 fmt::format("the run was interrupted by {}", signal_name(signal))});
}

/// Gives the order that is due; a deadline that is over stops the run.
void advance(RunState& run, RunClock::time_point now) {
  if (const auto order = run.progress.take_order(now)) {
    run.segments.merge(mapped_segments(run.processes));
    run.connections.send_all(*order);
  }
  const auto deadline = run.progress.next_deadline();
  if (!deadline || deadline->time > now) return;
  stop_run(run, expiry_of(*deadline, run.progress, run.request.limits));
}

RunOutcome outcome_of(RunState& run) {
  RunOutcome outcome;
  outcome.mode = run.request.mode;
  outcome.seconds = std::chrono::duration<double>(RunClock::now() - run.began).count();
  outcome.ranks = std::move(run.progress.outcomes());
  outcome.timings = run.progress.timings();
  conclude(outcome, run.trouble);
  if (!run.trouble) return outcome;
  if (run.trouble->reason.empty()) {
    const std::string line = last_line_of(run.processes, run.trouble->rank);
    if (!line.empty()) outcome.reason += fmt::format(" (its last line: {})", line);
  }
  outcome.front = front_line(*run.request.plan, run.request.mode, outcome.ranks);
  return outcome;
}

}  // namespace

RunResult coordinate(const RunRequest& request, Listener& listener) {
  RunState run(request);
  start_processes(run);
  while (!is_everything_over(run)) {
    wait(run, listener);
    look_for_stop(run);
    admit_ranks(run, listener.take_new());
    // Deaths first: a rank that others complain about may have been killed before.
    note_ends(run);
    hear_ranks(run);
    const auto now = RunClock::now();
    if (run.stage == EndStage::Running) {
      advance(run, now);
    } else {
      go_on_ending(run, now);
    }
  }
  return {.run = outcome_of(run),
          .nccl_version = run.progress.nccl_version(),
          .stop_signal = run.stop_signal,
          .pids = pids_of(run.processes),
          .segments = std::move(run.segments)};
}

}  // namespace ncclog
