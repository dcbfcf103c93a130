#include "replay/exec/carry_out.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "replay/exec/coordinator.h"
#include "replay/exec/gpu_probe.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/prepare_replay.h"
#include "replay/exec/run_request.h"
#include "replay/exec/stop_signals.h"
#include "replay/exec/whole_file.h"
#include "replay/outcome_json.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// The runs of a replay, one after the other.
struct ReplayRuns {
  const PreparedReplay& replay;
  const CarryOutPatience& patience;
  const StopSignals& stops;
  std::ostream& says;
  Listener listener;
  ReplayOutcome outcome = replay.outcome;
  std::vector<GpuCheck> checks = replay.checks;  ///< As the GPUs were asked last.
  /// Before the first run.
  std::set<std::string> segments_before = segments_in(replay.machine.shared_folder);
  std::string obstacle;  ///< Why no further run can be made; empty: it can.
  int stop_signal = 0;   ///< That ended a run, and so the replay; 0: none.
};

void save(const PreparedReplay& replay, const ReplayOutcome& outcome) {
  write_whole_file(replay.out / "outcome.json", write_outcome(outcome));
}

/// What the run's processes left behind is removed, the rest told.
void clean_up(ReplayRuns& runs, const RunResult& result, const std::string& token,
              RunOutcome& run) {
  const ReplayMachine& machine = runs.replay.machine;
  run.leftovers = end_strays(result.pids, token);
  const auto add = [&run](const std::vector<std::string>& texts) {
    run.leftovers.insert(run.leftovers.end(), texts.begin(), texts.end());
  };
  add(remove_segments(runs.segments_before, result.segments, machine.shared_folder));
  run.gpus = probe_after({machine.program, runs.patience.probe}, runs.checks);
  add(gpu_leftovers(run.gpus, runs.replay.flags.share));
  runs.checks = run.gpus;
  for (const GpuCheck& check : run.gpus) {
    if (!check.answers) runs.obstacle = fmt::format("GPU {} does not answer any more", check.gpu);
  }
}

RunOutcome run_one(ReplayRuns& runs, size_t number) {
  const PreparedReplay& replay = runs.replay;
  const ListedRun& listed = replay.list.runs[number];
  const RunMeans means{.limits = runs.patience.limits.value_or(limits_of(replay.plan.deadlines)),
                       .address = runs.listener.address(),
                       .stop_descriptor = runs.stops.descriptor()};
  const RunRequest request = request_for(replay, number, means);
  const RunResult result = coordinate(request, runs.listener);
  RunOutcome run = result.run;
  run.settings = listed.varied;
  run.logs = listed.folder;
  runs.stop_signal = result.stop_signal;
  if (runs.outcome.nccl_version.empty()) runs.outcome.nccl_version = result.nccl_version;
  clean_up(runs, result, request.token, run);
  if (run.end == RunEnd::NotStarted) runs.obstacle = "the run before could not be started";
  return run;
}

void say_end(const ReplayRuns& runs, size_t number, const RunOutcome& run) {
  std::string varied;
  for (const auto& [name, value] : run.settings) varied += fmt::format(" {}={}", name, value);
  runs.says << fmt::format("run {} of {}, {}{}: {}", number, runs.replay.list.runs.size(),
                           mode_word(run.mode), varied, to_string(run.end));
  if (!run.reason.empty()) runs.says << ": " << run.reason;
  runs.says << fmt::format(" ({:.1f} s)\n", run.seconds);
  for (const std::string& text : run.leftovers) runs.says << "  left behind: " << text << "\n";
}

void run_all(ReplayRuns& runs) {
  const std::vector<ListedRun>& list = runs.replay.list.runs;
  for (size_t i = 0; i < list.size() && runs.stop_signal == 0; ++i) {
    if (runs.obstacle.empty()) {
      runs.outcome.runs.push_back(run_one(runs, i));
    } else {
      runs.outcome.runs.push_back(
          {.mode = list[i].mode, .settings = list[i].varied, .reason = runs.obstacle});
    }
    say_end(runs, i + 1, runs.outcome.runs.back());
    save(runs.replay, runs.outcome);
  }
}

void say_refusal(const ReplayOutcome& outcome, std::ostream& says) {
  says << "ncclog-replay: " << outcome.refused << "\n";
  if (!outcome.hint.empty()) says << "  hint: " << outcome.hint << "\n";
}

/// The outcome of an earlier replay there stays: somebody waited for it.
void save_refusal(const PreparedReplay& replay) {
  fs::create_directories(replay.out);
  const std::optional<std::string> earlier = read_whole_file(replay.out / "outcome.json");
  if (!earlier || is_of_a_refusal(*earlier)) save(replay, replay.outcome);
}

int carry_out_here(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
                   const CarryOutPatience& patience) {
  // Made first: a signal that comes while the replay is prepared ends its first run.
  const StopSignals stops;
  const PreparedReplay replay = prepare_replay(flags, machine, patience.probe, says);
  if (!replay.outcome.refused.empty()) {
    if (!flags.judged) say_refusal(replay.outcome, says);
    save_refusal(replay);
    return 2;
  }
  ReplayRuns runs{.replay = replay, .patience = patience, .stops = stops, .says = says};
  adopt_orphans();
  run_all(runs);
  return runs.stop_signal == 0 ? 0 : 128 + runs.stop_signal;
}

}  // namespace

int carry_out(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
              const CarryOutPatience& patience) {
  try {
    return carry_out_here(flags, machine, says, patience);
  } catch (const fs::filesystem_error& error) {
    throw Error(error.code().message(), error.path1().native());
  }
}

}  // namespace ncclog
