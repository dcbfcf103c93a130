#include "app/replay_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/console.h"
#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

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

/// In the child; nothing may be allocated here. Whoever carries a replay out ends with this
/// process, even if it is killed: nobody would end the ranks on the GPUs otherwise. Writes errno to
/// `report` if the program cannot be started.
[[noreturn]] void become(char* const* words, pid_t parent, int output, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  struct sigaction defaults = {};
  defaults.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &defaults, nullptr);
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (input > STDERR_FILENO) close(input);
  // It may have died before the signal was asked for.
  if (getppid() == parent) execv(words[0], words);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

/// Starts the command with its output going into `output`.
pid_t start(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) throw Error("no pipe can be made", command.front());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(words.data(), parent, output, report[1]);
  int failure = pid < 0 ? errno : 0;
  close(report[1]);
  if (pid > 0) {
    [[maybe_unused]] const ssize_t n = read(report[0], &failure, sizeof failure);
  }
  close(report[0]);
  if (failure == 0) return pid;
  if (pid > 0) waitpid(pid, nullptr, 0);
  throw Error(fmt::format("cannot be started: {}", std::strerror(failure)), command.front(),
              "name a program that carries out replays with --runner");
}

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

bool has_passed(Clock::time_point begin, double seconds) {
  return std::chrono::duration<double>(Clock::now() - begin).count() >= seconds;
}

/// Tells the runner that its time is over, and after the grace everything that it started.
class TimeKeeper {
 public:
  TimeKeeper(pid_t pid, const RunnerLimits& limits) : pid_(pid), limits_(limits) {}

  void look() {
    if (!expired_ && has_passed(begin_, limits_.most_seconds)) {
      expired_ = true;
      kill(pid_, SIGTERM);
    } else if (expired_ && has_passed(begin_, limits_.most_seconds + limits_.grace_seconds)) {
      kill(-pid_, SIGKILL);
    }
  }

  bool expired() const { return expired_; }

 private:
  pid_t pid_;
  const RunnerLimits& limits_;
  Clock::time_point begin_ = Clock::now();
  bool expired_ = false;
};

/// Reads the runner's output until its process is gone; what others still hold the pipe open for is
/// not waited for.
int wait_for(pid_t pid, int pipe, const RunnerLimits& limits, RunnerEnd& end) {
  constexpr int kLookMs = 50;
  TimeKeeper time(pid, limits);
  bool open = true;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    pollfd readable = {.fd = open ? pipe : -1, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kLookMs) > 0) open = take(pipe, limits, end.last_words);
    time.look();
  }
  pollfd rest = {.fd = pipe, .events = POLLIN, .revents = 0};
  while (open && poll(&rest, 1, 0) > 0) open = take(pipe, limits, end.last_words);
  end.expired = time.expired();
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
  if (!failed) {
    all.push_back(self.parent_path() / kRunner);
    // In a build tree.
    all.push_back(self.parent_path() / "src" / "replay" / "exec" / kRunner);
  }
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
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
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("no pipe can be made", command.front());
  RunnerEnd end;
  const SignalsHandedOn signals;
  pid_t pid = -1;
  try {
    pid = start(command, ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  running = pid;
  // Asked before there was somebody to hand it on to.
  if (was_stopped) kill(pid, SIGTERM);
  close(ends[1]);
  const int status = wait_for(pid, ends[0], limits, end);
  running = 0;
  close(ends[0]);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.stopped = was_stopped;
  return end;
}

std::string runner_trouble(const RunnerEnd& end) {
  constexpr int kNotLoaded = 127;
  const std::string said = last_line(end.last_words);
  if (end.expired) return "it took longer than it can need, and was ended";
  if (end.stopped) return "it was stopped";
  if (end.signal != 0) return fmt::format("it was ended by signal {}", end.signal);
  if (end.exit_code == 0) return {};
  if (end.exit_code == kNotLoaded) {
    return fmt::format("it cannot be loaded: {}", said.empty() ? "a library is missing" : said);
  }
  return fmt::format("it ended with status {}{}{}", end.exit_code, said.empty() ? "" : ": ", said);
}

}  // namespace ncclog
