#include "replay/run/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <random>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan_json.h"
#include "replay/run/protocol.h"

namespace ncclog {
namespace fs = std::filesystem;

// Files as a whole.

void write_whole_file(const fs::path& path, const std::string& text) {
  const fs::path part = fmt::format("{}.{}.part", path.native(), getpid());
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) throw Error("cannot be written", part.native());
  file.close();
  fs::rename(part, path);
}

// The command line of a rank.

std::optional<PlantedCorruption> parse_corruption(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const std::string_view part : split(text, ':')) {
    const std::optional<int64_t> number = parse_int(part);
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() != 3) return std::nullopt;
  return PlantedCorruption{static_cast<int>(numbers[0]), static_cast<uint64_t>(numbers[1]),
                           numbers[2]};
}

NCCLOG_JSON_FIELDS(PlantedCorruption, rank, call, element)

NCCLOG_JSON_FIELDS(RankCommand, mode, rank, gpu, timed_runs, corrupt)
NCCLOG_MAY_LACK(RankCommand, timed_runs, corrupt)

std::vector<std::string> arguments_of(const RankCommand& command, const std::string& plan,
                                      const std::string& nccl) {
  std::vector<std::string> arguments{"ncclog-replay", "rank", to_json_value(command).dump(), plan};
  if (!nccl.empty()) arguments.push_back(nccl);
  return arguments;
}

std::optional<RankCommand> parse_command(std::string_view text) {
  return parse_line<RankCommand>(text);
}

namespace {

// The environment of a rank.

/// Inherited variables that would make the replay another one than its plan says.
bool belongs_to_the_plan(std::string_view name) {
  return name.starts_with("NCCL_") || name.starts_with("TORCH_") ||
         name.starts_with("NCCLOG_REPLAY_") || name == "CUDA_LAUNCH_BLOCKING" ||
         name == "CUDA_DEVICE_MAX_CONNECTIONS";
}

/// Of CUDA's variables those that change how a replay runs; others say where it is installed.
constexpr std::string_view kCudaVariables[] = {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER",
                                               "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES"};

/// True for what is said of all runs.
bool is_told(std::string_view name) {
  if (name == "NCCL_DEBUG_FILE" || name == "NCCL_HOSTID") return false;
  return name.starts_with("NCCL_") ||
         std::ranges::find(kCudaVariables, name) != std::end(kCudaVariables);
}

/// What makes the replay readable, and its pseudo-hosts.
void add_own(Environment& environment, const ReplayPlan& plan, int rank, const RunSetup& setup) {
  for (const OwnSetting& own : kOwnSettings) {
    const bool applies = !own.value.empty() && (!own.for_pseudo_hosts || setup.hosts > 1);
    const bool is_left_to_nccl = setup.multicast && own.name == "NCCL_NVLS_ENABLE";
    if (applies && !is_left_to_nccl) environment[std::string(own.name)] = own.value;
  }
  environment["NCCL_DEBUG_FILE"] = setup.logs + "/nccl.%h.%p.log";
  if (setup.hosts < 2) return;
  environment["NCCL_HOSTID"] =
      fmt::format("pseudo-host-{}", pseudo_host_of(plan, rank, setup.hosts));
}

constexpr size_t kMostRuns = 128;

/// Every way to give each variable one of its values.
std::vector<Settings> variations_of(const std::vector<std::string>& vary) {
  std::vector<Settings> all = {{}};
  for (const std::string& text : vary) {
    const auto [name, values] = parse_setting(text);
    std::vector<Settings> longer;
    for (const Settings& settings : all) {
      for (const std::string_view value : split(values, ',')) {
        longer.push_back(settings);
        longer.back().emplace_back(name, value);
      }
    }
    all = std::move(longer);
    if (all.size() > kMostRuns) break;
  }
  return all;
}

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  return -1;
#endif
}

}  // namespace

Environment this_environment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t sign = text.find('=');
    if (sign == std::string_view::npos) continue;
    environment.emplace(text.substr(0, sign), text.substr(sign + 1));
  }
  return environment;
}

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int part = 0; part < 4; ++part) token += fmt::format("{:08x}", random());
  return token;
}

int pseudo_host_of(const ReplayPlan& plan, int rank, int hosts) {
  if (hosts != host_group_count(plan)) {
    return static_cast<int>(static_cast<int64_t>(rank) * hosts /
                            std::max<int64_t>(1, static_cast<int64_t>(plan.ranks.size())));
  }
  std::set<int> groups;
  for (const PlannedRank& each : plan.ranks) groups.insert(each.host_group);
  return static_cast<int>(std::distance(groups.begin(), groups.find(plan.ranks[rank].host_group)));
}

Environment environment_of(const ReplayPlan& plan, int rank, const RunSetup& setup,
                           const Environment& inherited) {
  Environment environment;
  std::ranges::copy_if(inherited, std::inserter(environment, environment.end()),
                       [](const auto& entry) { return !belongs_to_the_plan(entry.first); });
  for (const PlannedSetting& setting : plan.settings) {
    const bool is_meant = setting.ranks.empty() || is_among(setting.ranks, rank);
    if (setting.left_out.empty() && is_meant) environment[setting.name] = setting.value;
  }
  add_own(environment, plan, rank, setup);
  for (const auto& [name, value] : setup.settings) environment[name] = value;
  // Behind what was set: a setting must not turn multicast on.
  if (!setup.multicast) environment["NCCL_NVLS_ENABLE"] = "0";
  environment[kTokenVariable] = setup.token;
  return environment;
}

Settings settings_in_force(const ReplayPlan& plan, const RunSetup& setup,
                           const Environment& inherited) {
  Settings settings;
  for (const auto& [name, value] : environment_of(plan, 0, setup, inherited)) {
    if (is_told(name)) settings.emplace_back(name, value);
  }
  return settings;
}

std::pair<std::string, std::string> parse_setting(const std::string& text) {
  const size_t sign = text.find('=');
  if (sign == std::string::npos) {
    throw Error(fmt::format("'{}' is no setting: NAME=VALUE is wanted", text));
  }
  const std::string name = text.substr(0, sign);
  const bool is_of_nccl =
      name.starts_with("NCCL_") && name.size() > 5 && std::ranges::all_of(name, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!is_of_nccl) {
    throw Error(fmt::format("a replay sets variables of NCCL only, and '{}' is none", name));
  }
  for (const OwnSetting& own : kOwnSettings) {
    if (own.name != name || own.why_reserved.empty()) continue;
    throw Error(fmt::format("{} cannot be set: {}", name, own.why_reserved));
  }
  return {name, text.substr(sign + 1)};
}

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("plan", flags.plan, "The plan's file")->required();
  app.add_option("--out", flags.out, "Folder for the outcome and NCCL's logs")->required();
  app.add_option("--mode", flags.mode, "As recorded (defect), all ranks behaving (clean), or both")
      ->check(CLI::IsMember({"both", "defect", "clean"}))
      ->capture_default_str();
  app.add_option("--hosts", flags.hosts, "Pseudo-hosts, joined by sockets; as many as recorded");
  app.add_option("--set", flags.set, "A variable of NCCL for all runs: NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--vary", flags.vary, "Runs for each value of a variable: NAME=VALUE,VALUE")
      ->allow_extra_args(false);
  app.add_option("--devices", flags.devices, "GPUs by rank: 0,1")->delimiter(',');
  app.add_flag("--share", flags.share, "Take GPUs that others use");
  app.add_option("--nccl", flags.nccl, "NCCL's library");
  app.add_option("--time", flags.time_runs, "Timed repetitions in clean runs")
      ->check(CLI::Range(0, kMostTimedRuns));
  app.add_option("--deadline", flags.deadline, "Seconds that calls may take")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--multicast", flags.multicast, "Leave NVLink multicast (NVLS) to NCCL");
  app.add_flag("--judged", flags.judged, "A refusal stands in the outcome only")->group("");
  app.add_option("--corrupt", flags.corrupt, "RANK:CALL:ELEMENT to falsify")->group("");
}

Settings fixed_settings(const RunFlags& flags) {
  Settings settings;
  for (const std::string& text : flags.set) settings.push_back(parse_setting(text));
  return settings;
}

std::vector<RunOutcome> list_runs(const ReplayPlan& plan, const RunFlags& flags) {
  std::vector<RunOutcome> runs;
  const std::vector<Settings> variations = variations_of(flags.vary);
  std::vector<MadeIn> modes;  // In the order in which they are run.
  if (flags.mode != "clean" && has_defect(plan)) modes.push_back(MadeIn::Defect);
  if (flags.mode != "defect") modes.push_back(MadeIn::Clean);
  if (modes.empty()) {
    throw Error("the plan has no defect: its two runs would be the same", "",
                "--mode clean makes that run");
  }
  if (variations.size() * modes.size() > kMostRuns) {
    throw Error(fmt::format("these are more than {} runs", kMostRuns), "",
                "vary fewer variables at a time");
  }
  for (const Settings& varied : variations) {
    for (const MadeIn mode : modes) {
      const std::string folder = fmt::format("run-{}-{}", runs.size() + 1, to_string(mode));
      runs.push_back({.mode = mode, .settings = varied, .logs = folder});
    }
  }
  return runs;
}

ChildProcess::ChildProcess(const ProcessStart& start) {
  const Descriptor output(
      open(start.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  NewProcess process{.arguments = start.arguments,
                     .program = start.program,
                     .output = output.get(),
                     .error = output.get(),
                     .inherited = start.channel,
                     .held = sigset_t(),  // Not those that the coordinator watches.
                     .leads_group = true,
                     .end_with_us = SIGKILL};
  for (const auto& [name, value] : start.environment) {
    process.environment.push_back(name + "=" + value);
  }
  if (output.is_open()) pid_ = start_process(process);
  if (pid_ < 0)
    throw Error(std::string("cannot be started: ") + std::strerror(errno), start.program);
  descriptor_ = Descriptor(open_pidfd(pid_));
}

ChildProcess::~ChildProcess() {
  if (!is_running()) return;
  signal(SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool ChildProcess::has_ended() {
  int status = 0;
  if (!is_running() || waitpid(pid_, &status, WNOHANG) != pid_) return has_ended_;
  has_ended_ = true;
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) signal_ = WTERMSIG(status);
  return true;
}

void ChildProcess::signal(int number) {
  if (is_running()) kill(pid_, number);
}

void ChildProcess::abandon() {
  if (is_running()) pid_ = -1;
}

std::string last_line_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  // A program may write without an end.
  std::string text(static_cast<size_t>(std::min<std::streamoff>(size, 4096)), '\0');
  file.seekg(size - static_cast<std::streamoff>(text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return printable(std::string_view(text).substr(text.rfind('\n') + 1));
}

}  // namespace ncclog
