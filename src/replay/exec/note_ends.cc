#include "replay/exec/note_ends.h"

#include "replay/exec/end_run.h"
#include "replay/exec/hear_ranks.h"

namespace ncclog {
namespace {

void note_end(RunState& run, const HeldProcess& process, const ProcessStatus& status) {
  const int rank = process.what->rank;
  RankOutcome& outcome = run.progress.outcomes()[rank];
  outcome.exit_code = status.exit_code;
  outcome.signal = status.signal;
  outcome.end = end_of(process, status, run.stage != EndStage::Running);
  const bool by_our_signal =
      outcome.end == ProcessEnd::Killed || outcome.end == ProcessEnd::Terminated;
  if (by_our_signal || (run.progress.is_done(rank) && status.exit_code == 0)) return;
  if (run.stage == EndStage::Running || explains(status, *run.trouble)) {
    run.trouble.reset();
    stop_run(run, {end_of_death(outcome), outcome.reached, rank, {}});
  }
}

}  // namespace

void note_ends(RunState& run) {
  for (HeldProcess& process : run.processes) {
    if (process.is_over || !process.child) continue;
    const auto status = process.child->reap();
    if (!status) continue;
    process.is_over = true;
    hear_last_words(run, process.what->rank);
    note_end(run, process, *status);
  }
}

}  // namespace ncclog
