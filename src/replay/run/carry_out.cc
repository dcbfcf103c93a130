#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/built_in.h"
#include "base/collectives.h"
#include "base/error.h"
#include "base/posix.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "replay/run/coordinator.h"
#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

// Can this replay be carried out here, and on what?
//
//   plan.json, --vary NCCL_ALGO=Ring,Tree   → 4 runs of ranks 0 and 1 on GPUs 0 and 1
//   --hosts 3                               → refused: the plan has 2 ranks
//
// What is found here stays the same from run to run.

/// A replay on its way. Once it is refused, only `outcome` counts.
struct Replay {
  const RunFlags& flags;
  const ReplayMachine& machine;
  std::optional<RunLimits> limits;  ///< nullopt: not known before the plan is read.
  const StopSignals& stops;
  std::ostream& says;
  fs::path out = fs::absolute(flags.out);
  std::string plan_file = fs::absolute(flags.plan).native();
  ReplayPlan plan;               ///< With the deadlines that were asked for.
  Settings settings;             ///< Of all runs.
  std::vector<RunOutcome> runs;  ///< As they are to be made.
  std::vector<int> gpus;         ///< By rank.
  Environment inherited = this_environment();
  std::optional<PlantedCorruption> corruption;
  std::vector<GpuCheck> checks;  ///< As the GPUs were asked last.
  ReplayOutcome outcome;         ///< If refused, what was known by then.
  /// Before the first run.
  std::set<std::string> segments_before = segments_in(machine.shared_folder);
  std::string obstacle;  ///< Why no further run can be made; empty: it can.
  int stop_signal = 0;   ///< That ended a run, and so the replay; 0: none.
};

void read_plan(Replay& replay) {
  const RunFlags& flags = replay.flags;
  const std::optional<std::string> text = read_whole_file(flags.plan);
  if (!text) throw Error(flags.plan + ": the plan cannot be read");
  replay.outcome.plan = plan_hash(*text);
  replay.plan = parse_plan(*text, flags.plan);
  ReplayDeadlines& deadlines = replay.plan.deadlines;
  deadlines = with_deadline(deadlines, flags.deadline);
  const auto& [start, init, enqueue, completion, teardown] = deadlines;
  using std::chrono::seconds;
  const RunLimits as_planned{.phases = {seconds(start), seconds(init), seconds(enqueue),
                                        seconds(completion), seconds(teardown)}};
  if (!replay.limits) replay.limits = as_planned;
  for (const PlanComplaint& complaint : check_plan(replay.plan)) {
    if (!complaint.is_refusal) continue;
    throw Error(fmt::format("the plan is refused: {}: {}", complaint.where, complaint.what), "",
                complaint.hint);
  }
}

void list_all_runs(Replay& replay) {
  const RunFlags& flags = replay.flags;
  replay.settings = fixed_settings(flags);
  replay.runs = list_runs(replay.plan, flags);
  if (!flags.corrupt.empty()) {
    replay.corruption = parse_corruption(flags.corrupt);
    if (!replay.corruption) throw Error("--corrupt wants RANK:CALL:ELEMENT");
  }
  const int nranks = static_cast<int>(replay.plan.ranks.size());
  if (flags.hosts < 0 || flags.hosts > nranks) {
    throw Error(fmt::format("--hosts {} cannot be: the plan has {} ranks", flags.hosts, nranks));
  }
  replay.outcome.pseudo_hosts = flags.hosts > 0 ? flags.hosts : host_group_count(replay.plan);
}

void describe(Replay& replay) {
  const ReplayMachine& machine = replay.machine;
  ReplayOutcome& outcome = replay.outcome;
  outcome.nccl_version = machine.nccl_version;
  outcome.nccl_library = machine.nccl_library;
  outcome.cuda_version = machine.runtime;
  outcome.driver = machine.driver;
  outcome.settings = settings_in_force(replay.plan,
                                       {.settings = replay.settings,
                                        .hosts = outcome.pseudo_hosts,
                                        .multicast = replay.flags.multicast},
                                       replay.inherited);
}

void take_gpus(Replay& replay) {
  replay.gpus = choose_gpus(replay.plan, replay.flags, replay.machine);
  const std::string remark = machine_remark(replay.plan.ranks.size(), replay.machine);
  if (!remark.empty()) replay.says << "ncclog-replay: " << remark << "\n";
  for (const GpuState& state : replay.machine.gpus) {
    if (is_among(replay.gpus, state.gpu.gpu)) replay.outcome.gpus.push_back(state.gpu);
  }
}

void make_folders(const Replay& replay) {
  for (const RunOutcome& run : replay.runs) {
    const fs::path folder = replay.out / run.logs;
    // Logs of an earlier replay there would be read back as this one's.
    fs::create_directories(folder);
    if (!fs::is_empty(folder)) {
      throw Error(folder.native() + " is not empty", "", "name another folder with --out");
    }
  }
}

/// Looks at flags, plan and GPUs, and makes the folders of the runs.
void prepare(Replay& replay) {
  replay.outcome.tool_version = version();
  try {
    read_plan(replay);
    list_all_runs(replay);
    describe(replay);
    take_gpus(replay);
    make_folders(replay);
    replay.checks = probe_gpus(replay.machine.program, replay.limits->probe, replay.gpus);
    for (const GpuCheck& check : replay.checks) {
      if (check.answers) continue;
      throw Error(fmt::format("GPU {} does not answer: {}", check.gpu, check.error));
    }
  } catch (const Error& refusal) {
    replay.outcome.refused = refusal.where().empty()
                                 ? refusal.what()
                                 : fmt::format("{}: {}", refusal.where(), refusal.what());
    replay.outcome.hint = refusal.hint();
  }
}

// From a replay to the request for one of its runs: which processes, with which command lines, in
// which environment.
//
//   run 1, defect   → ncclog-replay rank {"mode":"defect","rank":0,"gpu":0} plan.json
//                     ncclog-replay rank {"mode":"defect","rank":1,"gpu":1} plan.json

/// The request for a run of the replay's list. It refers to the replay's plan.
RunRequest request_for(const Replay& replay, const RunOutcome& listed) {
  const int timed_runs = listed.mode == MadeIn::Clean ? replay.flags.time_runs : 0;
  RunRequest request{.plan = &replay.plan,
                     .mode = listed.mode,
                     .gpus = replay.gpus,
                     .processes = {},
                     .limits = *replay.limits,
                     .token = random_token(),
                     .stop_descriptor = replay.stops.descriptor()};
  // A rank measures before it says that its calls are completed.
  request.limits.phases[static_cast<size_t>(ReplayPhase::Completion)] +=
      std::chrono::seconds(timing_seconds(timed_runs));
  RunSetup setup{.settings = replay.settings,
                 .hosts = replay.outcome.pseudo_hosts,
                 .multicast = replay.flags.multicast,
                 .logs = (replay.out / listed.logs).native(),
                 .token = request.token};
  setup.settings.insert(setup.settings.end(), listed.settings.begin(), listed.settings.end());
  for (int rank = 0; rank < static_cast<int>(replay.plan.ranks.size()); ++rank) {
    const RankCommand command{.mode = listed.mode,
                              .rank = rank,
                              .gpu = replay.gpus[rank],
                              .timed_runs = timed_runs,
                              .corrupt = replay.corruption};
    request.processes.push_back(
        {.program = replay.machine.program,
         .arguments = arguments_of(command, replay.plan_file, replay.flags.nccl),
         .environment = environment_of(replay.plan, rank, setup, replay.inherited),
         .output = fmt::format("{}/rank-{}.out", setup.logs, rank)});
  }
  return request;
}

void save(const Replay& replay) {
  write_whole_file(replay.out / "outcome.json", write_outcome(replay.outcome));
}

/// What the run's processes left behind is removed, the rest told.
void clean_up(Replay& replay, const RunResult& result, const std::string& token, RunOutcome& run) {
  const ReplayMachine& machine = replay.machine;
  run.leftovers = end_strays(result.pids, token);
  const auto add = [&run](const std::vector<std::string>& texts) {
    run.leftovers.insert(run.leftovers.end(), texts.begin(), texts.end());
  };
  add(remove_segments(replay.segments_before, result.segments, machine.shared_folder));
  run.gpus = probe_after(machine.program, replay.limits->probe, replay.checks);
  add(gpu_leftovers(run.gpus, replay.flags.share));
  replay.checks = run.gpus;
  for (const GpuCheck& check : run.gpus) {
    if (!check.answers) replay.obstacle = fmt::format("GPU {} does not answer any more", check.gpu);
  }
}

RunOutcome run_one(Replay& replay, const RunOutcome& listed) {
  const RunRequest request = request_for(replay, listed);
  const RunResult result = coordinate(request);
  RunOutcome run = result.run;
  run.settings = listed.settings;
  run.logs = listed.logs;
  replay.stop_signal = result.stop_signal;
  if (replay.outcome.nccl_version.empty()) replay.outcome.nccl_version = result.nccl_version;
  clean_up(replay, result, request.token, run);
  if (run.end == RunEnd::NotStarted) replay.obstacle = "the run before could not be started";
  return run;
}

void say_end(const Replay& replay, size_t number, const RunOutcome& run) {
  std::string varied;
  for (const auto& [name, value] : run.settings) varied += fmt::format(" {}={}", name, value);
  replay.says << fmt::format("run {} of {}, {}{}: {}", number, replay.runs.size(),
                             to_string(run.mode), varied, to_string(run.end));
  if (!run.reason.empty()) replay.says << ": " << run.reason;
  replay.says << fmt::format(" ({:.1f} s)\n", run.seconds);
  for (const std::string& text : run.leftovers) replay.says << "  left behind: " << text << "\n";
}

void run_all(Replay& replay) {
  const std::vector<RunOutcome>& list = replay.runs;
  for (size_t i = 0; i < list.size() && replay.stop_signal == 0; ++i) {
    if (replay.obstacle.empty()) {
      replay.outcome.runs.push_back(run_one(replay, list[i]));
    } else {
      replay.outcome.runs.push_back(
          {.mode = list[i].mode, .settings = list[i].settings, .reason = replay.obstacle});
    }
    say_end(replay, i + 1, replay.outcome.runs.back());
    save(replay);
  }
}

}  // namespace

int carry_out(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
              const std::optional<RunLimits>& limits) try {
  // Made first: a signal that comes while the replay is prepared ends its first run.
  const StopSignals stops;
  Replay replay{flags, machine, limits, stops, says};
  prepare(replay);
  if (!replay.outcome.refused.empty()) {
    if (!flags.judged) {
      says << "ncclog-replay: " << replay.outcome.refused << "\n";
      if (!replay.outcome.hint.empty()) says << "  hint: " << replay.outcome.hint << "\n";
    }
    fs::create_directories(replay.out);
    // The outcome of an earlier replay there stays: somebody waited for it.
    const std::optional<std::string> earlier = read_whole_file(replay.out / "outcome.json");
    if (!earlier || is_of_a_refusal(*earlier)) save(replay);
    return 2;
  }
  adopt_orphans();
  run_all(replay);
  return replay.stop_signal == 0 ? 0 : 128 + replay.stop_signal;
} catch (const fs::filesystem_error& error) {
  throw Error(error.code().message(), error.path1().native());
}

namespace {

/// True if the run came to the end that it has to: the planted corruption is found, and no other.
bool is_right(const RunOutcome& run, const std::optional<PlantedCorruption>& planted) {
  if (!planted) return run.end == RunEnd::Completed;
  const Verification& verified = run.ranks[planted->rank].verified;
  return run.end == RunEnd::Wrong && verified_by_all(run).wrong == 1 && verified.first &&
         verified.first->call == planted->call && verified.first->element == planted->element;
}

}  // namespace

int selftest(RunFlags flags, bool reduces_float8, const ReplayMachine& machine, std::ostream& says,
             const std::optional<RunLimits>& limits) {
  if (flags.devices.size() < 2) throw Error("a selftest needs at least 2 GPUs");
  const ReplayPlan plan = selftest_plan(static_cast<int>(flags.devices.size()), reduces_float8);
  const fs::path beginning = fs::temp_directory_path() / "ncclog-selftest-";
  TemporaryFolder folder(beginning, Error("no temporary folder can be made", beginning.native(),
                                          "set TMPDIR to a folder that can be written"));
  flags.plan = (folder.path() / "plan.json").native();
  flags.mode = "clean";
  flags.share = true;
  write_whole_file(flags.plan, write_plan(plan));
  if (!reduces_float8) says << "8-bit floats are only moved: reducing them needs Hopper\n";
  // What a failed run left behind may be in the way of the next one.
  bool passed = true;
  for (const Operation corrupted :
       {Operation::Unknown, Operation::AllReduce, Operation::AllGather}) {
    std::optional<PlantedCorruption> planted;
    if (corrupted != Operation::Unknown) planted = selftest_target(plan, corrupted);
    flags.corrupt =
        planted ? fmt::format("{}:{}:{}", planted->rank, planted->call, planted->element) : "";
    const std::string name(planted ? name_of(corrupted) : "all calls");
    flags.out = (folder.path() / name).native();
    if (const int status = carry_out(flags, machine, says, limits); status != 0) return status;
    const std::string file = flags.out + "/outcome.json";
    const RunOutcome run = parse_outcome(read_whole_file(file).value_or(""), file).runs.front();
    says << name << ": " << run_line(plan, run) << "\n";
    passed = is_right(run, planted);
    if (!passed) break;
  }
  if (!passed) folder.keep();
  says << (passed ? "passed\n" : "failed; its logs are in " + folder.path().native() + "\n");
  return passed ? 0 : 1;
}

}  // namespace ncclog
