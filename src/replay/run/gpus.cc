#include "replay/run/gpus.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "replay/run/protocol.h"

namespace ncclog {
namespace {

// What a run left behind: NCCL's shared memory, processes.

constexpr std::string_view kSegmentStart = "nccl-";

/// Names in a folder; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().native());
  }
  return names;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  for (const std::string& name : names_in("/proc")) {
    const auto pid = parse_int(name);
    if (pid && is_digit(name[0])) pids.push_back(static_cast<pid_t>(*pid));
  }
  std::ranges::sort(pids);
  return pids;
}

/// The segment that a line of /proc/PID/maps is of; empty: of none.
///
///   7f31c4000000-7f31c4a00000 rw-s 00000000 00:17 4211   /dev/shm/nccl-x8Kw2a (deleted)
std::string_view segment_in(std::string_view line) {
  const size_t slash = line.rfind('/');
  if (slash == std::string_view::npos) return {};
  std::string_view name = line.substr(slash + 1);
  if (!name.starts_with(kSegmentStart)) return {};
  return name.substr(0, name.find(' '));
}

bool is_ours(const std::string& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

/// What /proc/PID/stat says: "4712 (sleep) S 1 4711 …".
struct ProcessState {
  std::string name;
  char state = 'X';
  pid_t group = -1;
};

ProcessState state_of(pid_t pid) {
  const std::string text = read_whole_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  // The name may hold blanks and parentheses itself.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  const auto fields = split_blanks(std::string_view(text).substr(close + 1));
  if (fields.size() < 3) return {};
  return {text.substr(open + 1, close - open - 1), fields[0][0],
          static_cast<pid_t>(parse_int(fields[2]).value_or(-1))};
}

bool carries(pid_t pid, const std::string& token) {
  if (token.empty()) return false;
  const std::string text = read_whole_file(fmt::format("/proc/{}/environ", pid)).value_or("");
  return text.find(fmt::format("{}={}", kTokenVariable, token)) != std::string::npos;
}

/// True if the process is gone within a second.
bool has_gone(pid_t pid) {
  for (int round = 0; round < 100; ++round) {
    waitpid(pid, nullptr, WNOHANG);
    const char state = state_of(pid).state;
    if (state == 'X' || state == 'Z') return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// GPUs and the answers of probes as text.

using Json = WrittenJson;

std::string gib_text(int64_t bytes) {
  return bytes < 0 ? "unknown" : fmt::format("{:.1f}", to_gib(bytes));
}

std::string processes_text(const GpuState& state) {
  if (!state.processes) return "processes on it unknown";
  if (state.processes->empty()) return "no process on it";
  return fmt::format("busy: {} {}", state.processes->size() == 1 ? "process" : "processes",
                     fmt::join(*state.processes, ", "));
}

// On which GPUs a replay runs.

/// Less than that for each rank, and NCCL cannot even set up its proxies.
constexpr int64_t kLeastSharedMemory = 4LL << 20;

/// With that much for each rank nobody has been seen to run out.
constexpr int64_t kPlentySharedMemory = 64LL << 20;

int gpu_number(const GpuState& state) { return state.gpu.gpu; }

/// "process 4711 uses it"; empty: nobody is seen to use the GPU.
std::string use_of(const GpuState& state) {
  if (state.processes && !state.processes->empty()) {
    const bool one = state.processes->size() == 1;
    return fmt::format("{} {} {} it", one ? "process" : "processes",
                       fmt::join(*state.processes, ", "), one ? "uses" : "use");
  }
  // Processes of other containers are not told, but their memory is.
  const int64_t used = state.gpu.memory - state.free;
  // What the driver takes for itself of a GPU that nobody uses, and a little more.
  const int64_t idle_use = (1LL << 30) + state.gpu.memory / 100;
  if (state.free < 0 || used <= idle_use) return {};
  return fmt::format("{} of {} GiB of its memory are taken", gib_text(used),
                     gib_text(state.gpu.memory));
}

constexpr const char* kShareHint =
    "wait until it is free, name others with --devices, or take it all the same with --share";

/// The GPUs that the user names. Throws Error if they cannot be taken.
std::vector<int> named_gpus(size_t needed, const RunFlags& flags, const ReplayMachine& machine) {
  std::set<int> seen;
  for (const int gpu : flags.devices) {
    const auto state = std::ranges::find(machine.gpus, gpu, gpu_number);
    if (state == machine.gpus.end()) {
      throw Error(fmt::format("there is no GPU {}: this machine has {}", gpu, machine.gpus.size()),
                  "", "`ncclog-replay gpus` lists them");
    }
    if (!seen.insert(gpu).second) {
      throw Error(fmt::format("--devices names GPU {} twice: never two ranks on one GPU", gpu));
    }
    const std::string use = use_of(*state);
    if (!use.empty() && !flags.share) {
      throw Error(fmt::format("GPU {} is busy: {}", gpu, use), "", kShareHint);
    }
  }
  if (flags.devices.size() != needed) {
    throw Error(fmt::format("--devices names {} GPUs, and the plan needs {}, one for each rank",
                            flags.devices.size(), needed));
  }
  return flags.devices;
}

std::vector<int> free_gpus(size_t needed, bool are_shared, const std::vector<GpuState>& gpus) {
  if (gpus.size() < needed) {
    throw Error(
        fmt::format("the plan needs {} GPUs, one for each rank, and this machine has {}", needed,
                    gpus.size()),
        "",
        gpus.size() < 2
            ? "a replay needs two GPUs at least"
            : fmt::format("--gpus {} makes a smaller plan, and says what is lost", gpus.size()));
  }
  std::vector<int> taken;
  std::string busy;
  for (const GpuState& state : gpus) {
    const std::string use = use_of(state);
    if (use.empty() || are_shared) {
      taken.push_back(state.gpu.gpu);
    } else if (busy.empty()) {
      busy = fmt::format("GPU {} is busy: {}", state.gpu.gpu, use);
    }
  }
  if (taken.size() < needed) throw Error(busy, "", kShareHint);
  taken.resize(needed);
  return taken;
}

/// Throws Error if nothing can be replayed here, whatever the plan.
void check_machine(const ReplayMachine& machine, size_t nranks) {
  if (!machine.problem.empty()) {
    throw Error(machine.problem, "", "plans can be made and checked without a GPU");
  }
  if (machine.gpus.empty()) throw Error("this machine has no GPU that CUDA can use");
  if (!machine.nccl_problem.empty()) {
    throw Error(machine.nccl_problem, "", "--nccl names the library to use");
  }
  const int64_t least = kLeastSharedMemory * static_cast<int64_t>(nranks);
  if (machine.shared_memory >= 0 && machine.shared_memory < least) {
    throw Error(fmt::format("/dev/shm is full: {} of the {} MiB are free that NCCL needs there",
                            machine.shared_memory >> 20, least >> 20),
                "",
                "remove what is left there of other programs, or give the container more "
                "(--shm-size)");
  }
}

// Whether the GPUs still answer.

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// What may be lacking without a leak: fragments, and the like of other programs.
constexpr int64_t kTolerance = 256LL << 20;

/// A GPU that is being asked.
struct Question {
  GpuCheck check;
  Descriptor output;                      ///< Memory that takes what it writes.
  std::unique_ptr<ChildProcess> process;  ///< nullptr: it could not be started.
};

Question ask(const std::string& program, int gpu) {
  Question question{.check = {.gpu = gpu},
                    .output = Descriptor(memfd_create("probe", MFD_CLOEXEC))};
  try {
    question.process = std::make_unique<ChildProcess>(
        ProcessStart{.program = program,
                     .arguments = {"ncclog-replay", "probe", std::to_string(gpu)},
                     .environment = this_environment(),
                     .output = fmt::format("/proc/self/fd/{}", question.output.get())});
  } catch (const Error& error) {
    question.check.error = fmt::format("the probe {}", error.what());
  }
  return question;
}

/// Waits for the end of the process, until `latest` at most.
bool ends_by(ChildProcess& process, Clock::time_point latest) {
  while (!process.has_ended()) {
    const auto left = std::chrono::ceil<milliseconds>(latest - Clock::now());
    if (left.count() <= 0) return false;
    PollList polled;
    polled.add(process.descriptor());
    polled.wait(process.descriptor() < 0 ? std::min(left, milliseconds(20)) : left);
  }
  return true;
}

/// Fills in what the probe answers among the lines of its output, or why it does not.
void await_answer(Question& question, Clock::time_point latest) {
  GpuCheck& check = question.check;
  if (!question.process) return;
  if (!ends_by(*question.process, latest)) {
    question.process->signal(SIGKILL);
    // What not even SIGKILL ends hangs in the driver, and waiting for it would hang too.
    if (!ends_by(*question.process, Clock::now() + milliseconds(2000))) question.process->abandon();
    check.error = "it does not answer in time";
    return;
  }
  std::string text(65536, '\0');
  const ssize_t size = pread(question.output.get(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  std::optional<GpuCheck> answer;
  for (std::string_view line : split(text, '\n')) {
    if (!answer) answer = parse_line<GpuCheck>(line);
  }
  if (!answer || answer->gpu != check.gpu) {
    check.error = "the probe ended without an answer";
    return;
  }
  check.answers = answer->answers;
  check.free_after = answer->free_after;
  check.error = printable(answer->error);
}

int64_t lacking(const GpuCheck& check) {
  if (check.free_before < 0 || check.free_after < 0) return 0;
  return check.free_before - check.free_after;
}

}  // namespace

std::set<std::string> segments_in(const std::string& folder) {
  std::set<std::string> segments;
  for (std::string& name : names_in(folder)) {
    if (name.starts_with(kSegmentStart)) segments.insert(std::move(name));
  }
  return segments;
}

std::set<std::string> segments_of(pid_t pid) {
  std::set<std::string> segments;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::string line;
  while (std::getline(maps, line)) {
    const std::string_view name = segment_in(line);
    if (!name.empty()) segments.emplace(name);
  }
  return segments;
}

std::vector<std::string> remove_segments(const std::set<std::string>& before,
                                         const std::set<std::string>& used,
                                         const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : segments_in(folder)) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (before.contains(name) || !is_ours(path)) continue;
    const std::vector<pid_t> pids = all_pids();
    const auto user =
        std::ranges::find_if(pids, [&](pid_t pid) { return segments_of(pid).contains(name); });
    if (user != pids.end()) {
      if (used.contains(name)) {
        found.push_back(fmt::format("{} (still used by process {})", path, *user));
      }
    } else if (!used.contains(name)) {
      found.push_back(path + " (came up meanwhile; perhaps another job's, so it was left)");
    } else if (unlink(path.c_str()) == 0) {
      found.push_back(path + " (removed)");
    } else {
      found.push_back(fmt::format("{} (cannot be removed: {})", path, std::strerror(errno)));
    }
  }
  return found;
}

int64_t free_bytes(const std::string& folder) {
  struct statvfs status = {};
  if (statvfs(folder.c_str(), &status) != 0) return -1;
  return static_cast<int64_t>(status.f_bavail) * static_cast<int64_t>(status.f_frsize);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<std::string> end_strays(const std::vector<pid_t>& leaders, const std::string& token) {
  std::vector<std::string> found;
  for (pid_t pid : all_pids()) {
    const ProcessState state = state_of(pid);
    if (pid == getpid() || state.state == 'Z' || state.state == 'X') continue;
    const bool is_led = std::ranges::find(leaders, state.group) != leaders.end();
    if (!is_led && !carries(pid, token)) continue;
    kill(pid, SIGKILL);
    const char* end = has_gone(pid) ? "killed" : "cannot be killed";
    found.push_back(fmt::format("process {} ({}), {}", pid, printable(state.name), end));
  }
  // Those that ended by themselves after we adopted them.
  for (pid_t leader : leaders) {
    while (waitpid(-leader, nullptr, WNOHANG) > 0) {
    }
  }
  return found;
}

std::string write_gpus_json(const ReplayMachine& machine) {
  Json json{{"gpus", Json::array()},
            {"runtime", machine.runtime},
            {"driver", machine.driver},
            {"problem", machine.problem}};
  for (const GpuState& state : machine.gpus) {
    Json gpu = to_json_value(state.gpu);
    gpu["free"] = state.free;
    gpu["processes"] = state.processes ? Json(*state.processes) : Json(nullptr);
    json["gpus"].push_back(std::move(gpu));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string write_gpus_text(const ReplayMachine& machine) {
  std::string text;
  for (const GpuState& state : machine.gpus) {
    text += fmt::format("GPU {}: {}, {}, {} of {} GiB free, {}\n", state.gpu.gpu, state.gpu.name,
                        state.gpu.bus_id, gib_text(state.free), gib_text(state.gpu.memory),
                        processes_text(state));
  }
  text += fmt::format("CUDA {}, driver for CUDA {}\n", machine.runtime, machine.driver);
  return text;
}

std::vector<int> choose_gpus(const ReplayPlan& plan, const RunFlags& flags,
                             const ReplayMachine& machine) {
  const size_t needed = plan.ranks.size();
  check_machine(machine, needed);
  return flags.devices.empty() ? free_gpus(needed, flags.share, machine.gpus)
                               : named_gpus(needed, flags, machine);
}

std::string machine_remark(size_t ranks, const ReplayMachine& machine) {
  const int64_t wanted = kPlentySharedMemory * static_cast<int64_t>(ranks);
  if (machine.shared_memory < 0 || machine.shared_memory >= wanted) return {};
  return fmt::format(
      "/dev/shm has {} MiB free; ranks that meet in host memory (SHM) may need {} MiB",
      machine.shared_memory >> 20, wanted >> 20);
}

std::vector<GpuCheck> probe_gpus(const std::string& program, std::chrono::milliseconds patience,
                                 const std::vector<int>& gpus) {
  const auto latest = Clock::now() + patience;
  std::vector<Question> questions;
  for (int gpu : gpus) questions.push_back(ask(program, gpu));
  std::vector<GpuCheck> checks;
  for (Question& question : questions) {
    await_answer(question, latest);
    checks.push_back(std::move(question.check));
  }
  return checks;
}

std::vector<GpuCheck> probe_after(const std::string& program, std::chrono::milliseconds patience,
                                  const std::vector<GpuCheck>& before) {
  std::vector<int> gpus;
  for (const GpuCheck& check : before) gpus.push_back(check.gpu);
  std::vector<GpuCheck> checks;
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(milliseconds(500));
    checks = probe_gpus(program, patience, gpus);
    for (size_t i = 0; i < checks.size(); ++i) checks[i].free_before = before[i].free_after;
    const bool is_back = std::ranges::all_of(
        checks, [](const GpuCheck& check) { return lacking(check) <= kTolerance; });
    if (is_back) break;
  }
  return checks;
}

std::vector<std::string> gpu_leftovers(const std::vector<GpuCheck>& checks, bool are_shared) {
  std::vector<std::string> found;
  for (const GpuCheck& check : checks) {
    if (!check.answers) {
      found.push_back(fmt::format("GPU {} does not answer: {}", check.gpu, check.error));
    } else if (!are_shared && lacking(check) > kTolerance) {
      found.push_back(fmt::format("GPU {}: {} MiB of its memory are not back", check.gpu,
                                  lacking(check) >> 20));
    }
  }
  return found;
}

}  // namespace ncclog
