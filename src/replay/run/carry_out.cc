#include "replay/run/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "replay/judge/outcome.h"
#include "replay/plan/check_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/connection.h"
#include "replay/run/coordinator.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

// Can this replay be carried out here, and on what?
//
//   plan.json, --vary NCCL_ALGO=Ring,Tree   → 4 runs of ranks 0 and 1 on GPUs 0 and 1
//   --hosts 3                               → refused: the plan has 2 ranks
//
// What is found here stays the same from run to run.

/// A replay that can be carried out, unless `outcome` says why not.
struct PreparedReplay {
  PreparedReplay(const RunFlags& of, const ReplayMachine& on) : flags(of), machine(on) {}

  const RunFlags& flags;
  const ReplayMachine& machine;
  std::filesystem::path out = std::filesystem::absolute(flags.out);
  std::string plan_file = std::filesystem::absolute(flags.plan).native();
  ReplayPlan plan;  ///< With the deadlines that were asked for.
  RunList list;
  std::vector<int> gpus;  ///< By rank.
  Environment inherited = this_environment();
  std::optional<PlantedCorruption> corruption;
  std::vector<GpuCheck> checks;  ///< The GPUs used, before the first run.
  ReplayOutcome outcome;         ///< Without runs. If refused, what was known by then.
};

/// Thrown where the replay is refused; becomes ReplayOutcome::refused.
struct Refusal {
  std::string what;
  std::string hint;
};

ReplayPlan parse_plan_of(const RunFlags& flags, const std::string& text) {
  try {
    return parse_plan(text, flags.plan);
  } catch (const Error& error) {
    throw Refusal{fmt::format("{}: {}", error.where(), error.what()), error.hint()};
  }
}

void refuse_bad_plan(const ReplayPlan& plan) {
  for (const PlanComplaint& complaint : check_plan(plan)) {
    if (complaint.weight != PlanComplaint::Weight::Refusal) continue;
    throw Refusal{fmt::format("the plan is refused: {}: {}", complaint.where, complaint.what),
                  complaint.hint};
  }
}

void read_plan(PreparedReplay& replay) {
  const RunFlags& flags = replay.flags;
  const std::optional<std::string> text = read_whole_file(flags.plan);
  if (!text) throw Refusal{flags.plan + ": the plan cannot be read", {}};
  replay.outcome.plan = plan_hash(*text);
  replay.plan = parse_plan_of(flags, *text);
  replay.plan.deadlines = with_deadline(replay.plan.deadlines, flags.deadline);
  refuse_bad_plan(replay.plan);
}

void list_all_runs(PreparedReplay& replay) {
  replay.list = list_runs(replay.plan, replay.flags);
  if (!replay.list.refusal.empty()) throw Refusal{replay.list.refusal, replay.list.hint};
  if (replay.flags.corrupt.empty()) return;
  replay.corruption = parse_corruption(replay.flags.corrupt);
  if (!replay.corruption) throw Refusal{"--corrupt wants RANK:CALL:ELEMENT", {}};
}

int pseudo_hosts(const ReplayPlan& plan, const RunFlags& flags) {
  const int nranks = static_cast<int>(plan.ranks.size());
  if (flags.hosts < 0 || flags.hosts > nranks) {
    throw Refusal{fmt::format("--hosts {} cannot be: the plan has {} ranks", flags.hosts, nranks),
                  {}};
  }
  return flags.hosts > 0 ? flags.hosts : host_group_count(plan);
}

void describe(PreparedReplay& replay) {
  const ReplayMachine& machine = replay.machine;
  ReplayOutcome& outcome = replay.outcome;
  outcome.nccl_version = machine.nccl_version;
  outcome.nccl_library = machine.nccl_library;
  outcome.cuda_version = machine.gpus.runtime;
  outcome.driver = machine.gpus.driver;
  outcome.settings = settings_in_force(replay.plan,
                                       {.settings = replay.list.settings,
                                        .hosts = outcome.pseudo_hosts,
                                        .multicast = replay.flags.multicast},
                                       replay.inherited);
}

void take_gpus(PreparedReplay& replay, std::ostream& says) {
  GpuChoice choice = choose_gpus(replay.plan, replay.flags, replay.machine);
  if (!choice.refusal.empty()) throw Refusal{choice.refusal, choice.hint};
  const std::vector<int>& gpus = replay.gpus = std::move(choice.gpus);
  const std::string remark = machine_remark(replay.plan.ranks.size(), replay.machine);
  if (!remark.empty()) says << "ncclog-replay: " << remark << "\n";
  for (const GpuState& state : replay.machine.gpus.gpus) {
    const bool is_taken = std::ranges::find(gpus, state.gpu.gpu) != gpus.end();
    if (is_taken) replay.outcome.gpus.push_back(state.gpu);
  }
}

void make_folders(const PreparedReplay& replay) {
  for (const ListedRun& listed : replay.list.runs) {
    const fs::path folder = replay.out / listed.folder;
    // Logs of an earlier replay there would be read back as this one's.
    fs::create_directories(folder);
    if (!fs::is_empty(folder)) {
      throw Refusal{folder.native() + " is not empty", "name another folder with --out"};
    }
  }
}

void check_gpus(PreparedReplay& replay, std::chrono::milliseconds patience) {
  replay.checks = probe_gpus({replay.machine.program, patience}, replay.gpus);
  for (const GpuCheck& check : replay.checks) {
    if (check.answers) continue;
    throw Refusal{fmt::format("GPU {} does not answer: {}", check.gpu, check.error), {}};
  }
}

/// Looks at flags, plan and GPUs, and makes the folders of the runs. `patience`: for a GPU's
/// answer. Remarks go to `says`. `flags` and `machine` outlive what is returned.
PreparedReplay prepare_replay(const RunFlags& flags, const ReplayMachine& machine,
                              std::chrono::milliseconds patience, std::ostream& says) {
  PreparedReplay replay(flags, machine);
  replay.outcome.tool_version = version();
  try {
    read_plan(replay);
    list_all_runs(replay);
    replay.outcome.pseudo_hosts = pseudo_hosts(replay.plan, flags);
    describe(replay);
    take_gpus(replay, says);
    make_folders(replay);
    check_gpus(replay, patience);
  } catch (const Refusal& refusal) {
    replay.outcome.refused = refusal.what;
    replay.outcome.hint = refusal.hint;
  }
  return replay;
}

/// The runs of a replay, one after the other.
struct ReplayRuns {
  const PreparedReplay& replay;
  const CarryOutPatience& patience;
  const StopSignals& stops;
  std::ostream& says;
  ReplayOutcome outcome = replay.outcome;
  std::vector<GpuCheck> checks = replay.checks;  ///< As the GPUs were asked last.
  /// Before the first run.
  std::set<std::string> segments_before = segments_in(replay.machine.shared_folder);
  std::string obstacle;  ///< Why no further run can be made; empty: it can.
  int stop_signal = 0;   ///< That ended a run, and so the replay; 0: none.
};

// From a replay to the request for one of its runs: which processes, with which command lines, in
// which environment.
//
//   run 1, defect   → ncclog-replay rank --plan … --mode defect --rank 0 --device 0
//                     ncclog-replay rank --plan … --mode defect --rank 1 --device 1

RunLimits limits_for(const ReplayRuns& runs, const ListedRun& listed) {
  const PreparedReplay& replay = runs.replay;
  RunLimits limits = runs.patience.limits.value_or(limits_of(replay.plan.deadlines));
  // A rank measures before it says that its calls are completed.
  if (listed.mode == MadeIn::Clean) {
    limits.phases[static_cast<size_t>(ReplayPhase::Completion)] +=
        std::chrono::seconds(timing_seconds(replay.flags.time_runs));
  }
  return limits;
}

RankCommand command_for(const PreparedReplay& replay, const ListedRun& listed, int rank) {
  RankCommand command{.plan = replay.plan_file, .mode = listed.mode, .rank = rank};
  command.gpu = replay.gpus[rank];
  command.nccl = replay.flags.nccl;
  if (listed.mode == MadeIn::Clean) command.timed_runs = replay.flags.time_runs;
  command.corrupt = replay.corruption;
  return command;
}

/// The request for run `number` of the replay's list. It refers to the replay's plan.
RunRequest request_for(const ReplayRuns& runs, size_t number) {
  const PreparedReplay& replay = runs.replay;
  const ListedRun& listed = replay.list.runs[number];
  RunRequest request{.plan = &replay.plan,
                     .mode = listed.mode,
                     .gpus = replay.gpus,
                     .processes = {},
                     .limits = limits_for(runs, listed),
                     .token = random_token(),
                     .stop_descriptor = runs.stops.descriptor()};
  RunSetup setup{.settings = replay.list.settings,
                 .hosts = replay.outcome.pseudo_hosts,
                 .multicast = replay.flags.multicast,
                 .logs = (replay.out / listed.folder).native(),
                 .token = request.token};
  setup.settings.insert(setup.settings.end(), listed.varied.begin(), listed.varied.end());
  for (int rank = 0; rank < static_cast<int>(replay.plan.ranks.size()); ++rank) {
    RankProcess process{.rank = rank};
    process.start.program = replay.machine.program;
    process.start.arguments = arguments_of(command_for(replay, listed, rank));
    process.start.arguments.insert(process.start.arguments.begin(), "ncclog-replay");
    process.start.environment = environment_of(replay.plan, rank, setup, replay.inherited);
    process.start.output = fmt::format("{}/rank-{}.out", setup.logs, rank);
    request.processes.push_back(std::move(process));
  }
  return request;
}

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
  const ListedRun& listed = runs.replay.list.runs[number];
  const RunRequest request = request_for(runs, number);
  const RunResult result = coordinate(request);
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
