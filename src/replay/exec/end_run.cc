#include "replay/exec/end_run.h"

#include <csignal>
#include <utility>

namespace ncclog {
namespace {

/// What does not end is not ours any more.
void give_up(RunState& run) {
  for (HeldProcess& process : run.processes) {
    if (!process.is_running()) continue;
    process.child->abandon();
    run.progress.outcomes()[process.what->rank].end = ProcessEnd::Lost;
  }
}

void enter(RunState& run, EndStage stage) {
  run.stage = stage;
  run.stage_ends = RunClock::now() + grace_of(stage, run.request.limits);
}

void signal_all(RunState& run, int number) {
  for (HeldProcess& process : run.processes) send_signal(process, number);
}

/// Who never connected cannot hear "abort"; a connection that broke is one.
void terminate_unconnected(RunState& run) {
  for (HeldProcess& process : run.processes) {
    if (!run.connections.was_connected(process.what->rank)) send_signal(process, SIGTERM);
  }
}

}  // namespace

void stop_run(RunState& run, Trouble trouble) {
  if (run.trouble) return;
  run.trouble = std::move(trouble);
  if (run.stage != EndStage::Running) return;
  run.segments.merge(mapped_segments(run.processes));
  run.connections.send_all({.kind = RunOrder::Kind::Abort});
  enter(run, EndStage::Aborting);
  terminate_unconnected(run);
}

void go_on_ending(RunState& run, RunClock::time_point now) {
  if (run.stage == EndStage::Running || run.stage_ends > now) return;
  if (run.stage == EndStage::Aborting) {
    signal_all(run, SIGTERM);
    enter(run, EndStage::Terminating);
  } else if (run.stage == EndStage::Terminating) {
    signal_all(run, SIGKILL);
    enter(run, EndStage::Killing);
  } else {
    enter(run, EndStage::GivenUp);
    give_up(run);
  }
}

}  // namespace ncclog
