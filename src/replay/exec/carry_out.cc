#include "replay/exec/carry_out.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "base/error.h"
#include "base/version.h"
#include "replay/check_plan.h"
#include "replay/exec/coordinator.h"
#include "replay/exec/gpu_probe.h"
#include "replay/exec/guard.h"
#include "replay/exec/launcher_env.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/stop_signals.h"
#include "replay/outcome_json.h"
#include "replay/plan_json.h"
#include "replay/replay_cost.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;

/// Thrown where the replay is refused; becomes ReplayOutcome::refused.
struct Refusal {
  std::string what;
  std::string hint;
};

/// nullopt: there is no such file, or it cannot be read.
std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string read_plan_text(const std::string& path) {
  std::optional<std::string> text = read_text(path);
  if (!text) throw Refusal{path + ": the plan cannot be read", {}};
  return *std::move(text);
}

/// The plan as it is carried out: with the deadlines that were asked for.
ReplayPlan plan_of(const std::string& text, const RunFlags& flags) {
  ReplayPlan plan;
  try {
    plan = parse_plan(text, flags.plan);
  } catch (const Error& error) {
    throw Refusal{fmt::format("{}: {}", error.where(), error.what()), error.hint()};
  }
  plan.deadlines = with_deadline(plan.deadlines, flags.deadline);
  for (const PlanComplaint& complaint : check_plan(plan)) {
    if (complaint.weight != PlanComplaint::Weight::Refusal) continue;
    throw Refusal{fmt::format("the plan is refused: {}: {}", complaint.where, complaint.what),
                  complaint.hint};
  }
  return plan;
}

int pseudo_hosts(const ReplayPlan& plan, const RunFlags& flags) {
  const int nranks = static_cast<int>(plan.ranks.size());
  if (flags.hosts < 0 || flags.hosts > nranks) {
    throw Refusal{fmt::format("--hosts {} cannot be: the plan has {} ranks", flags.hosts, nranks),
                  {}};
  }
  if (flags.threads && flags.hosts > 1) {
    throw Refusal{"ranks in one process cannot be on several pseudo-hosts",
                  "leave out --threads or --hosts"};
  }
  if (flags.threads) return 1;
  return flags.hosts > 0 ? flags.hosts : host_group_count(plan);
}

void write_whole(const fs::path& path, const std::string& text) {
  const fs::path part = fmt::format("{}.{}.part", path.native(), getpid());
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) throw Error("cannot be written", part.native());
  file.close();
  fs::rename(part, path);
}

/// Everything that stays the same from run to run.
class Replay {
 public:
  Replay(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
         const CarryOutPatience& patience)
      : flags_(flags), machine_(machine), says_(says), patience_(patience) {}

  int carry_out();

 private:
  void prepare();
  void join_launch();
  void take_gpus();
  void describe();
  void make_folders() const;
  void run_all();
  RunOutcome run_one(size_t number);
  RunResult run_as_guard(const RunRequest& request);
  RunRequest request_for(size_t number);
  std::vector<RankProcess> processes_for(const ListedRun& listed, const RunSetup& setup) const;
  RankProcess process_for(const ListedRun& listed, const RunSetup& setup,
                          std::vector<int> ranks) const;
  void clean_up(RunOutcome& run, const RunResult& result);
  void say_end(size_t number, const RunOutcome& run) const;
  void say_refusal() const;
  void save() const;
  void save_refusal() const;
  bool is_guard() const { return task_ && task_->task > 0; }
  bool coordinates_launch() const { return task_ && task_->task == 0; }

  const RunFlags& flags_;
  const ReplayMachine& machine_;
  std::ostream& says_;
  CarryOutPatience patience_;
  fs::path out_ = fs::absolute(flags_.out);
  std::string plan_file_ = fs::absolute(flags_.plan).native();
  ReplayPlan plan_;
  RunList list_;
  std::vector<int> gpus_;  ///< By rank; -1: of another host.
  Environment inherited_ = this_environment();
  std::optional<LauncherTask> task_;  ///< nullopt: all ranks are started here.
  std::string rendezvous_;            ///< Where task 0 is, if `task_`.
  std::optional<PlantedCorruption> corruption_;
  StopSignals stops_;
  std::optional<Listener> listener_;
  std::string mark_;                       ///< Of the processes of the run.
  std::vector<GpuCheck> checks_;           ///< As the GPUs were asked last.
  std::set<std::string> segments_before_;  ///< Before the first run.
  std::string obstacle_;                   ///< Why no further run can be made; empty: it can.
  int stop_signal_ = 0;
  ReplayOutcome outcome_;
};

int Replay::carry_out() {
  try {
    prepare();
  } catch (const Refusal& refusal) {
    outcome_.refused = refusal.what;
    outcome_.hint = refusal.hint;
    if (!flags_.judged) say_refusal();
    save_refusal();
    return 2;
  }
  run_all();
  return stop_signal_ == 0 ? 0 : 128 + stop_signal_;
}

void Replay::prepare() {
  outcome_.tool_version = version();
  const std::string text = read_plan_text(flags_.plan);
  outcome_.plan = plan_hash(text);
  plan_ = plan_of(text, flags_);
  list_ = list_runs(plan_, flags_);
  if (!list_.refusal.empty()) throw Refusal{list_.refusal, list_.hint};
  if (!flags_.corrupt.empty()) {
    corruption_ = parse_corruption(flags_.corrupt);
    if (!corruption_) throw Refusal{"--corrupt wants RANK:CALL:ELEMENT", {}};
  }
  outcome_.pseudo_hosts = pseudo_hosts(plan_, flags_);
  if (!flags_.local) task_ = launcher_task(inherited_);
  if (task_) join_launch();
  describe();
  take_gpus();
  const std::string remark = machine_remark(task_ ? 1 : plan_.ranks.size(), machine_);
  if (!remark.empty()) says_ << "ncclog-replay: " << remark << "\n";
  for (const GpuState& state : machine_.gpus.gpus) {
    if (std::find(gpus_.begin(), gpus_.end(), state.gpu.gpu) != gpus_.end()) {
      outcome_.gpus.push_back(state.gpu);
    }
  }
  make_folders();
  std::vector<int> local_gpus = gpus_;
  std::erase(local_gpus, -1);
  checks_ = probe_gpus({machine_.program, patience_.probe}, local_gpus);
  for (const GpuCheck& check : checks_) {
    if (check.answers) continue;
    throw Refusal{fmt::format("GPU {} does not answer: {}", check.gpu, check.error), {}};
  }
  listener_.emplace(coordinates_launch() ? "0.0.0.0:" + parse_host_port(rendezvous_)->port : "");
  segments_before_ = segments_in(machine_.shared_folder);
  adopt_orphans();
}

/// The tasks of a launcher hold one rank each, and are told by it where the first one is.
void Replay::join_launch() {
  if (task_->tasks != static_cast<int>(plan_.ranks.size())) {
    throw Refusal{fmt::format("{} started {} tasks, and the plan has {} ranks", task_->launcher,
                              task_->tasks, plan_.ranks.size()),
                  "start as many tasks, or all ranks from one of them with --local"};
  }
  if (flags_.threads) {
    throw Refusal{
        fmt::format("--threads cannot be: {} started a task for each rank", task_->launcher),
        "start all ranks from one task with --local"};
  }
  // Hosts are as they are, unless somebody wants them otherwise.
  if (flags_.hosts == 0) outcome_.pseudo_hosts = 1;
  rendezvous_ = flags_.rendezvous;
  if (rendezvous_.empty() && !task_->host.empty()) {
    rendezvous_ = fmt::format("{}:{}", task_->host, task_->port);
  }
  if (!parse_host_port(rendezvous_)) {
    throw Refusal{fmt::format("{} does not say on which host task 0 is", task_->launcher),
                  "name it with --rendezvous HOST:PORT"};
  }
}

void Replay::take_gpus() {
  GpuChoice choice = task_ ? choose_gpu_of_task(task_->local, flags_, machine_)
                           : choose_gpus(plan_, flags_, machine_);
  if (!choice.refusal.empty()) throw Refusal{choice.refusal, choice.hint};
  gpus_ = std::move(choice.gpus);
  if (!task_) return;
  const int gpu = gpus_.front();
  gpus_.assign(plan_.ranks.size(), -1);
  gpus_[static_cast<size_t>(task_->task)] = gpu;
}

void Replay::describe() {
  outcome_.nccl_version = machine_.nccl_version;
  outcome_.nccl_library = machine_.nccl_library;
  outcome_.cuda_version = machine_.gpus.runtime;
  outcome_.driver = machine_.gpus.driver;
  outcome_.threads = flags_.threads;
  outcome_.settings = settings_in_force(
      plan_,
      {.settings = list_.settings, .hosts = outcome_.pseudo_hosts, .multicast = flags_.multicast},
      inherited_);
}

void Replay::make_folders() const {
  for (const ListedRun& listed : list_.runs) {
    const fs::path folder = out_ / listed.folder;
    // Logs of an earlier replay there would be read back as this one's.
    fs::create_directories(folder);
    // Task 0 may have begun where another task comes late.
    if (!is_guard() && !fs::is_empty(folder)) {
      throw Refusal{folder.native() + " is not empty", "name another folder with --out"};
    }
  }
}

void Replay::run_all() {
  for (size_t i = 0; i < list_.runs.size() && stop_signal_ == 0; ++i) {
    const ListedRun& listed = list_.runs[i];
    if (obstacle_.empty()) {
      outcome_.runs.push_back(run_one(i));
    } else {
      outcome_.runs.push_back(
          {.mode = listed.mode, .settings = listed.varied, .reason = obstacle_});
    }
    say_end(i + 1, outcome_.runs.back());
    save();
  }
}

RunOutcome Replay::run_one(size_t number) {
  const ListedRun& listed = list_.runs[number];
  const RunRequest request = request_for(number);
  const RunResult result = is_guard() ? run_as_guard(request) : coordinate(request, *listener_);
  RunOutcome run = result.run;
  run.settings = listed.varied;
  run.logs = listed.folder;
  stop_signal_ = result.stop_signal;
  if (outcome_.nccl_version.empty()) outcome_.nccl_version = result.nccl_version;
  clean_up(run, result);
  if (run.end == RunEnd::NotStarted) obstacle_ = "the run before could not be started";
  return run;
}

/// What this task can tell of a run that task 0 judges.
RunResult Replay::run_as_guard(const RunRequest& request) {
  const RankProcess& process = request.processes.front();
  RunResult result;
  result.run.mode = request.mode;
  try {
    GuardResult guarded = guard_rank(
        {process.start, rendezvous_, request.token, request.limits, request.stop_descriptor},
        *listener_);
    result.pids = {guarded.pid};
    result.stop_signal = guarded.stop_signal;
    result.segments = std::move(guarded.segments);
    result.run.end = guarded.was_heard ? RunEnd::Completed : RunEnd::NotStarted;
    result.run.reason = fmt::format("rank {} ended {}, task 0 knows the rest",
                                    process.ranks.front(), to_string(guarded.end));
    if (!guarded.reason.empty()) result.run.reason += ": " + guarded.reason;
  } catch (const Error& error) {
    result.run.reason = fmt::format("{} {}", error.where(), error.what());
  }
  return result;
}

RunRequest Replay::request_for(size_t number) {
  const ListedRun& listed = list_.runs[number];
  RunRequest request;
  request.plan = &plan_;
  request.mode = listed.mode;
  request.gpus = gpus_;
  request.limits = patience_.limits.value_or(limits_of(plan_.deadlines));
  if (listed.mode == MadeIn::Clean) {
    request.limits.phases[static_cast<size_t>(ReplayPhase::Completion)] +=
        std::chrono::seconds(timing_seconds(flags_.time_runs));
  }
  request.token = task_ ? launch_token(outcome_.plan, task_->job, number) : random_token();
  mark_ = random_token();
  request.stop_descriptor = stops_.descriptor();
  RunSetup setup{.settings = list_.settings,
                 .hosts = outcome_.pseudo_hosts,
                 .multicast = flags_.multicast,
                 .logs = (out_ / listed.folder).native(),
                 .coordinator = listener_->address(),
                 .token = request.token,
                 .mark = mark_};
  if (coordinates_launch()) {
    setup.coordinator = "127.0.0.1:" + parse_host_port(listener_->address())->port;
  }
  setup.settings.insert(setup.settings.end(), listed.varied.begin(), listed.varied.end());
  request.processes = processes_for(listed, setup);
  for (int rank = 1; coordinates_launch() && rank < task_->tasks; ++rank) {
    request.remote_ranks.push_back(rank);
  }
  return request;
}

std::vector<RankProcess> Replay::processes_for(const ListedRun& listed,
                                               const RunSetup& setup) const {
  std::vector<int> all;
  for (size_t rank = 0; rank < plan_.ranks.size(); ++rank) all.push_back(static_cast<int>(rank));
  if (flags_.threads) return {process_for(listed, setup, all)};
  if (task_) return {process_for(listed, setup, {task_->task})};
  std::vector<RankProcess> processes;
  for (int rank : all) processes.push_back(process_for(listed, setup, {rank}));
  return processes;
}

RankProcess Replay::process_for(const ListedRun& listed, const RunSetup& setup,
                                std::vector<int> ranks) const {
  RankCommand command{.plan = plan_file_, .mode = listed.mode, .ranks = ranks};
  for (int rank : ranks) command.gpus.push_back(gpus_[static_cast<size_t>(rank)]);
  command.nccl = flags_.nccl;
  if (listed.mode == MadeIn::Clean) command.timed_runs = flags_.time_runs;
  command.corrupt = corruption_;
  RankProcess process;
  process.start.program = machine_.program;
  process.start.arguments = arguments_of(command);
  process.start.arguments.insert(process.start.arguments.begin(), "ncclog-replay");
  process.start.environment = environment_of(plan_, ranks.front(), setup, inherited_);
  process.start.output = fmt::format("{}/rank-{}.out", setup.logs, ranks.front());
  process.ranks = std::move(ranks);
  return process;
}

void Replay::clean_up(RunOutcome& run, const RunResult& result) {
  run.leftovers = end_strays(result.pids, mark_);
  for (std::string& text :
       remove_segments(segments_before_, result.segments, machine_.shared_folder)) {
    run.leftovers.push_back(std::move(text));
  }
  run.gpus = probe_after({machine_.program, patience_.probe}, checks_);
  for (std::string& text : gpu_leftovers(run.gpus, flags_.share))
    run.leftovers.push_back(std::move(text));
  checks_ = run.gpus;
  for (const GpuCheck& check : run.gpus) {
    if (!check.answers) obstacle_ = fmt::format("GPU {} does not answer any more", check.gpu);
  }
}

void Replay::say_end(size_t number, const RunOutcome& run) const {
  std::string varied;
  for (const auto& [name, value] : run.settings) varied += fmt::format(" {}={}", name, value);
  says_ << fmt::format("run {} of {}, {}{}: {}", number, list_.runs.size(), mode_word(run.mode),
                       varied, to_string(run.end));
  if (!run.reason.empty()) says_ << ": " << run.reason;
  says_ << fmt::format(" ({:.1f} s)\n", run.seconds);
  for (const std::string& text : run.leftovers) says_ << "  left behind: " << text << "\n";
}

/// One task of a launch writes what came of it.
void Replay::save() const {
  if (!is_guard()) write_whole(out_ / "outcome.json", write_outcome(outcome_));
}

void Replay::say_refusal() const {
  says_ << "ncclog-replay: " << outcome_.refused << "\n";
  if (!outcome_.hint.empty()) says_ << "  hint: " << outcome_.hint << "\n";
}

/// The outcome of an earlier replay there stays: somebody waited for it.
void Replay::save_refusal() const {
  fs::create_directories(out_);
  const std::optional<std::string> earlier = read_text(out_ / "outcome.json");
  if (!earlier || is_of_a_refusal(*earlier)) save();
}

}  // namespace

int carry_out(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
              const CarryOutPatience& patience) {
  try {
    return Replay(flags, machine, says, patience).carry_out();
  } catch (const fs::filesystem_error& error) {
    throw Error(error.code().message(), error.path1().native());
  }
}

}  // namespace ncclog
