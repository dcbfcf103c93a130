// How ncclog-replay is started for a plan, waited for, and what it left is read back.

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <iostream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/command_table.h"
#include "app/commands/replay.h"
#include "app/output.h"
#include "app/read/read_document.h"
#include "app/read/read_job.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "replay/judge/verdict.h"
#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_json.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

// The folder of a replay: new, or one in which nothing of another replay is.
//
//   ncclog-replay-5f0c1a2b/plan.json      written before the runs
//                          outcome.json   by ncclog-replay
//                          result.json    by ncclog, at the end

namespace fs = std::filesystem;

std::string read_replay_file(const fs::path& path) {
  return read_file_up_to(path.string(), kMaxReplayText);
}

/// Throws Error if the folder holds another plan or what was found out about one. It need not be
/// there. `hash` is that of the plan's file.
void check_replay_folder(const fs::path& folder, const ReplayPlan& plan, const std::string& hash) {
  using PlanOf = std::function<std::string(const std::string& text)>;
  const std::pair<const char*, PlanOf> kFiles[] = {
      {"plan.json",
       [&](const std::string& text) {
         return parse_plan(text, "plan.json") == plan ? hash : plan_hash(text);
       }},
      {"outcome.json",
       [](const std::string& text) { return parse_outcome(text, "outcome.json").plan; }},
      {"result.json",
       [](const std::string& text) { return parse_result(text, "result.json").plan; }}};
  for (const auto& [name, plan_of] : kFiles) {
    if (!fs::exists(folder / name)) continue;
    std::string found;
    try {
      found = plan_of(read_replay_file(folder / name));
    } catch (const Error&) {
      found.clear();  // Somebody else's file, or a newer ncclog's.
    }
    if (found != hash) {
      throw Error("holds another plan, or what came out of it", folder.string(),
                  "choose another --out");
    }
  }
}

/// An outcome of an earlier replay must not pass for this one's. That of a refusal is removed;
/// throws Error if one is there that somebody waited for.
void take_refusal_away(const fs::path& folder) {
  const fs::path path = folder / "outcome.json";
  if (!fs::exists(path)) return;
  if (!is_of_a_refusal(read_replay_file(path))) {
    throw Error("holds the outcome of another replay", folder.string(), "choose another --out");
  }
  fs::remove(path);
}

/// A folder below that of the outcome: an outcome names no other places.
bool is_inside(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return false;
  const fs::path plain = name.lexically_normal();
  return plain.begin()->string() != "..";
}

ReadBack read_run_logs(const ReplayPlan& plan, const RunOutcome& run, const fs::path& folder,
                       ReadingProgress* progress) {
  if (!is_inside(run.logs)) return {};
  try {
    const std::string logs[] = {(folder / run.logs).string()};
    return read_back(read_job(find_inputs(logs), {.progress = progress}), plan, run);
  } catch (const Error&) {
    return {};  // A run without logs is judged as one that could not be read back.
  }
}

}  // namespace

ReplayResult result_in(const fs::path& folder, const ReplayPlan& plan, const std::string& hash,
                       ReadingProgress* progress) {
  const fs::path path = folder / "outcome.json";
  const ReplayOutcome outcome = parse_outcome(read_replay_file(path), path.string());
  if (outcome.plan != hash) {
    throw Error("the outcome of another plan", path.string(), "choose another folder with --out");
  }
  std::vector<ReadBack> seen;
  for (const RunOutcome& run : outcome.runs) {
    seen.push_back(read_run_logs(plan, run, folder, progress));
  }
  return make_result(plan, hash, outcome, seen);
}

namespace {

// What can be asked of `ncclog replay run`, and what it comes to.
//
//   --mode both --vary NCCL_ALGO=Ring,Tree
//       → 4 runs: ncclog-replay run DIR/plan.json --out DIR --mode both --judged --vary …

constexpr Choice<std::string_view> kModes[] = {
    {"both", "both"}, {"defect", "defect"}, {"clean", "clean"}};

/// What the user typed.
struct ReplayRunOptions {
  std::vector<std::string> plans;  ///< A file, "-"; none or several: a mistake.
  std::string mode = "both";
  int gpus = 0;                   ///< Ranks that are kept; 0: all of the plan.
  int hosts = 0;                  ///< Pseudo-hosts; 0: as the plan says.
  std::vector<std::string> set;   ///< NAME=VALUE, for all runs.
  std::vector<std::string> vary;  ///< NAME=a,b: runs with each of them.
  std::string devices;            ///< "0,1"; empty: the first ones.
  bool share = false;
  std::string nccl;  ///< A library; empty: the one that is found.
  int time = 0;      ///< Runs of the timed call; 0: none.
  int deadline = 0;  ///< Seconds for calls and for what follows; 0: as the plan says.
  bool multicast = false;
  bool yes = false;
  std::string runner;  ///< Path of ncclog-replay; empty: found.
  std::string out;     ///< Folder of the run; empty: a new one here.
  std::string result;  ///< File; empty: result.json in the folder; "-".
};

void check_settings(const std::vector<std::string>& settings, const char* flag) {
  for (const std::string& one : settings) {
    const bool is_named = one.find('=') != std::string::npos && one.front() != '=';
    if (is_named) continue;
    throw Error(fmt::format("no setting: '{}'", printable(one)), flag, "write NAME=VALUE");
  }
}

/// Throws Error if the words make no sense, whatever the plan.
void check_words(const ReplayRunOptions& options) {
  if (options.plans.empty()) {
    throw Error("no plan named", "replay run", "'ncclog replay plan' makes one of logs");
  }
  if (options.plans.size() > 1) {
    throw Error(fmt::format("one plan is wanted, not {}", options.plans.size()), "replay run",
                "replay them one after the other");
  }
  check_settings(options.set, "--set");
  check_settings(options.vary, "--vary");
}

/// Runs that the modes and variations make of the plan, 10,000 at most; ncclog-replay refuses far
/// fewer.
int runs_of(const ReplayRunOptions& options, const ReplayPlan& plan) {
  constexpr int64_t kMost = 10000;
  int64_t runs = options.mode == "both" ? runs_of(plan) : 1;
  for (const std::string& one : options.vary) {
    runs = std::min(kMost, runs * (1 + std::ranges::count(one, ',')));
  }
  return static_cast<int>(runs);
}

/// The command line of ncclog-replay for the plan in the folder; what the user did not say is left
/// to it. `runner` is its path.
std::vector<std::string> runner_command(const ReplayRunOptions& options, const std::string& runner,
                                        const std::filesystem::path& folder) {
  std::vector<std::string> words = {runner,       "run",           (folder / "plan.json").string(),
                                    "--out",      folder.string(), "--mode",
                                    options.mode, "--judged"};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  const auto number = [](int value) { return value > 0 ? std::to_string(value) : std::string(); };
  add("--hosts", number(options.hosts));
  for (const std::string& one : options.set) add("--set", one);
  for (const std::string& one : options.vary) add("--vary", one);
  add("--devices", options.devices);
  add("--nccl", options.nccl);
  add("--time", number(options.time));
  add("--deadline", number(options.deadline));
  if (options.share) words.emplace_back("--share");
  if (options.multicast) words.emplace_back("--multicast");
  return words;
}

constexpr const char* kRunner = "ncclog-replay";
constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr size_t kMaxLastWords = 4096;

/// What a signal handler may look at: the runner that is being waited for; 0: none.
std::atomic<pid_t> running{0};
std::atomic<bool> was_stopped{false};

void hand_on(int signal) {
  was_stopped = true;
  if (const pid_t pid = running; pid > 0) kill(pid, signal);
}

/// While it lives, requests to stop this process go to the runner.
class SignalsHandedOn {
 public:
  SignalsHandedOn() {
    was_stopped = false;
    struct sigaction action = {};
    action.sa_handler = hand_on;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < before_.size(); ++i) sigaction(kStopSignals[i], &action, &before_[i]);
  }
  ~SignalsHandedOn() {
    running = 0;
    for (size_t i = 0; i < before_.size(); ++i) sigaction(kStopSignals[i], &before_[i], nullptr);
  }
  SignalsHandedOn(const SignalsHandedOn&) = delete;
  SignalsHandedOn& operator=(const SignalsHandedOn&) = delete;

 private:
  std::array<struct sigaction, std::size(kStopSignals)> before_ = {};
};

/// Takes what has come out of the pipe. False at its end.
bool take(int pipe, const RunnerLimits& limits, std::string& last_words) {
  std::array<char, 4096> buffer;
  const ssize_t n = read(pipe, buffer.data(), buffer.size());
  if (n <= 0) return n < 0 && errno == EINTR;
  const std::string_view text(buffer.data(), static_cast<size_t>(n));
  if (limits.passes_on) write_all(STDERR_FILENO, text, "standard error");
  last_words += text;
  if (last_words.size() > kMaxLastWords) last_words.erase(0, last_words.size() - kMaxLastWords);
  return true;
}

/// Reads the runner's output until its process is gone; what others still hold the pipe open for is
/// not waited for. When its time is over the runner is asked to end, and after the grace it and
/// everything that it started are killed.
int wait_for(pid_t pid, int pipe, const RunnerLimits& limits, RunnerEnd& end) {
  constexpr int kLookMs = 50;
  const auto begin = std::chrono::steady_clock::now();
  bool open = true;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    pollfd readable = {.fd = open ? pipe : -1, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kLookMs) > 0) open = take(pipe, limits, end.last_words);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (!end.expired && passed.count() >= limits.most_seconds) {
      end.expired = true;
      kill(pid, SIGTERM);
    } else if (end.expired && passed.count() >= limits.most_seconds + limits.grace_seconds) {
      kill(-pid, SIGKILL);
    }
  }
  pollfd rest = {.fd = pipe, .events = POLLIN, .revents = 0};
  while (open && poll(&rest, 1, 0) > 0) open = take(pipe, limits, end.last_words);
  return status;
}

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

/// Where the runner may be, the best place first.
std::vector<fs::path> places() {
  std::vector<fs::path> all;
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) all.push_back(self.parent_path() / kRunner);
  const std::string path = environment_variable("PATH");
  for (const std::string_view folder : split(path, ':')) {
    if (!folder.empty()) all.push_back(fs::path(folder) / kRunner);
  }
  return all;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const size_t begin = text.rfind('\n');
  return printable(begin == text.npos ? text : text.substr(begin + 1));
}

}  // namespace

std::string find_runner(const std::string& wanted) {
  if (!wanted.empty()) {
    if (is_program(wanted)) return wanted;
    std::error_code ignored;
    const bool is_there = fs::exists(wanted, ignored);
    throw Error(is_there ? "is no program that can be started" : "no program of this name", wanted,
                "--runner names the file ncclog-replay");
  }
  for (const fs::path& place : places()) {
    if (is_program(place)) return place.string();
  }
  throw Error(
      "ncclog-replay is neither beside ncclog nor in PATH", "replay run",
      "it needs the GPUs: build it where the CUDA Toolkit and NCCL's header are, install it "
      "beside ncclog, or name it with --runner");
}

RunnerEnd run_runner(const std::vector<std::string>& command, const RunnerLimits& limits) {
  Pipe pipe(command.front());
  RunnerEnd end;
  const SignalsHandedOn signals;
  // Whoever carries a replay out ends with this process, even if it is killed: nobody would end the
  // ranks on the GPUs otherwise.
  const pid_t pid = start_process({.arguments = command,
                                   .output = pipe.write.get(),
                                   .error = pipe.write.get(),
                                   .leads_group = true,
                                   .end_with_us = SIGTERM});
  if (pid < 0) {
    throw Error(fmt::format("cannot be started: {}", std::strerror(errno)), command.front(),
                "name a program that carries out replays with --runner");
  }
  running = pid;
  // Asked before there was somebody to hand it on to.
  if (was_stopped) kill(pid, SIGTERM);
  pipe.write.close();
  const int status = wait_for(pid, pipe.read.get(), limits, end);
  running = 0;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.stopped = was_stopped;
  return end;
}

std::string runner_trouble(const RunnerEnd& end) {
  constexpr int kNotLoaded = 127;
  const std::string last = last_line(end.last_words);
  if (end.expired) return "it took longer than it can need, and was ended";
  if (end.stopped) return "it was stopped";
  if (end.signal != 0) return fmt::format("it was ended by signal {}", end.signal);
  if (end.exit_code == 0) return {};
  if (end.exit_code == kNotLoaded) {
    return fmt::format("it cannot be loaded: {}", last.empty() ? "a library is missing" : last);
  }
  return fmt::format("it ended with status {}{}{}", end.exit_code, last.empty() ? "" : ": ", last);
}

// ncclog replay run PLAN

namespace {

/// What is to be run, and where.
struct AskedReplay {
  ReplayPlan plan;
  std::string text;    ///< The plan as a file.
  std::string hash;    ///< Of the text.
  ReplayPlan timed;    ///< With the deadlines that ncclog-replay will keep.
  std::string runner;  ///< Path of ncclog-replay.
  fs::path folder;
};

/// Before anything is run: whether the result can be written, and over nothing that is read.
void check_result_file(const ReplayRunOptions& options, const fs::path& folder) {
  if (options.result.empty() || options.result == kStandardOutput) return;
  check_other_file(options.result, options.plans.front(), "the plan itself");
  for (const char* name : {"plan.json", "outcome.json"}) {
    if (same_place(options.result) == same_place((folder / name).string())) {
      throw Error("is what the replay itself writes", options.result, "name another file");
    }
  }
  const fs::path parent = fs::path(options.result).parent_path();
  const bool is_inside = same_place((parent / ".").string()) == same_place((folder / ".").string());
  if (!is_inside) check_output_file(options.result, {});
}

/// What will happen, before anybody is asked.
std::string outline(const ReplayPlan& plan, const ReplayRunOptions& options,
                    const fs::path& folder) {
  const int runs = runs_of(options, plan);
  std::vector<std::string> settings = options.set;
  settings.insert(settings.end(), options.vary.begin(), options.vary.end());
  const int hosts = options.hosts > 0 ? options.hosts : host_group_count(plan);
  return fmt::format(
      "{} on {} of this machine{}, {} ({}){}\n"
      "  needs   {}\n"
      "  folder  {}\n",
      plural(plan.ranks.size(), "rank"), plural(plan.ranks.size(), "GPU"),
      hosts > 1 ? fmt::format(" as {} pseudo-hosts", hosts) : "", plural(runs, "run"), options.mode,
      settings.empty() ? "" : ", " + printable(join(settings, " ")), cost_words(plan, runs),
      printable(folder.string()));
}

/// Throws Error unless the person at the terminal says yes.
void confirm(const ReplayRunOptions& options, const std::string& text) {
  if (options.yes) return;
  const bool can_ask = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  write_all(STDERR_FILENO, text, "standard error");
  if (!can_ask) throw Error("nobody is there to confirm it", "replay run", "give --yes");
  write_all(STDERR_FILENO, "Run it? [y/N] ", "standard error");
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return;
  throw Error("not confirmed: nothing was run", "replay run");
}

/// Throws Error where the replay cannot be made; nothing is written yet, and nobody was asked.
AskedReplay asked_replay(const ReplayRunOptions& options) {
  check_words(options);
  const PlanFile file = load_plan(options.plans.front());
  for (const PlanComplaint& complaint : check_plan(file.plan)) {
    if (!complaint.is_refusal) continue;
    throw Error(complaint.what, fmt::format("{}: {}", file.path, complaint.where), complaint.hint);
  }
  AskedReplay asked;
  asked.plan = options.gpus > 0 ? shrink_plan(file.plan, options.gpus) : file.plan;
  asked.runner = find_runner(options.runner);
  asked.text = write_plan(asked.plan);
  asked.hash = plan_hash(asked.text);
  // The file and its hash keep the planned deadlines; --deadline hands these to the runner.
  asked.timed = asked.plan;
  asked.timed.deadlines = with_deadline(asked.plan.deadlines, options.deadline);
  asked.timed.deadlines.completion += timing_seconds(options.time);
  // "ncclog-replay-5f0c1a2b", or the first of that name with a number that is not there yet.
  const std::string name = "ncclog-replay-" + asked.hash.substr(0, 8);
  asked.folder = options.out.empty() ? name : options.out;
  for (int n = 2; options.out.empty() && fs::exists(asked.folder); ++n) {
    asked.folder = fmt::format("{}-{}", name, n);
  }
  check_replay_folder(asked.folder, asked.plan, asked.hash);
  check_result_file(options, asked.folder);
  return asked;
}

ExitStatus replay_run(const ReplayRunOptions& options, Console& console) {
  const AskedReplay asked = asked_replay(options);
  take_refusal_away(asked.folder);
  confirm(options, outline(asked.timed, options, asked.folder));
  std::error_code failed;
  fs::create_directories(asked.folder, failed);
  if (failed) {
    throw Error("cannot be made: " + failed.message(), asked.folder.string(),
                "choose another --out");
  }
  write_output_file((asked.folder / "plan.json").string(), asked.text);

  const int64_t most = longest_seconds(asked.timed.deadlines, runs_of(options, asked.plan));
  const RunnerEnd end =
      run_runner(runner_command(options, asked.runner, asked.folder),
                 {.most_seconds = static_cast<double>(most), .passes_on = !console.quiet});
  const std::string trouble = runner_trouble(end);
  if (!fs::exists(asked.folder / "outcome.json")) {
    throw Error(trouble.empty() ? "it wrote no outcome" : trouble, asked.runner,
                "what it printed stands above");
  }
  const ReplayResult result = result_in(asked.folder, asked.plan, asked.hash, console.progress);
  const std::string place = (asked.folder / "result.json").string();
  tell_replay(result, options.result.empty() ? place : options.result, console);
  const ExitStatus status = status_of(result.verdict.kind);
  if (trouble.empty() || !result.outcome.refused.empty()) return status;
  console.err += fmt::format("{}: {}; what it had done by then is judged\n",
                             printable(asked.runner), printable(trouble));
  return std::max(status, ExitStatus::Partial);
}

}  // namespace

void declare_replay_run(CommandRow& command) {
  ReplayRunOptions& options = options_of(command, replay_run);
  add_argument(command, "PLAN", options.plans, "a plan, '-' for stdin");
  // What the runs are, and how many.
  add_choice(
      command, kFurtherFlags, "--mode", options.mode, kModes,
      "defect: as recorded; clean: all ranks behave; both (default): the one, then the other");
  add_number(command, kPlanFlags, "--gpus N", {2, 1 << 20}, options.gpus,
             "replay on N GPUs at most: ranks are left out, and what is lost is said");
  add_number(
      command, kFurtherFlags, "--hosts N", {1, 1024}, options.hosts,
      "split the GPUs into N pseudo-hosts that talk over sockets (default: as the plan says)");
  add_flag(command, kFurtherFlags, "--set NAME=VALUE", options.set,
           "a setting for all runs; may be repeated");
  add_flag(command, kFurtherFlags, "--vary NAME=VALUES", options.vary,
           "make the runs once with each of NAME=A,B and compare; may be repeated");
  // Where and how they are made.
  add_flag(command, kFurtherFlags, "--devices NUMBERS", options.devices,
           "the GPUs by number, as 0,1 (default: the first ones)");
  add_flag(command, kFurtherFlags, "--share", options.share, "use GPUs that others use, too");
  add_flag(command, kInputFlags, "--nccl FILE", options.nccl,
           "NCCL's library (default: the one that is found)");
  add_number(command, kFurtherFlags, "--time N", {1, kMostTimedRuns}, options.time,
             "repeat the tested call N times and measure it");
  add_number(command, kFurtherFlags, "--deadline SECONDS", {1, 3600}, options.deadline,
             "seconds that calls and what follows them may take (default: as the plan says)");
  add_flag(command, kFurtherFlags, "--multicast", options.multicast,
           "allow NVLink multicast, which is off otherwise");
  add_flag(command, kFurtherFlags, "--yes", options.yes, "do not ask");
  add_flag(command, kFurtherFlags, "--runner FILE", options.runner,
           "the program ncclog-replay (default: beside ncclog, else in PATH)");
  add_flag(command, kFurtherFlags, "--out FOLDER", options.out,
           "folder for logs and outcome (default: a new one, ncclog-replay-HASH)");
  add_flag(command, kOutputFlags, "-o,--output FILE", options.result,
           "where the result goes (default: result.json in the folder; '-': standard output)");
}

}  // namespace ncclog
