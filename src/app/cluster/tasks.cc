#include "app/cluster/tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/leftovers.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {
namespace {

using Clock = std::chrono::steady_clock;

/// The line that tells why it failed: what the program says goes before what srun says of it, an
/// error before a message, and hints stand behind blanks.
///
///   ncclog: /var/log/nccl: no such file or folder          this one
///     hint: check the spelling, or quote a pattern
///   srun: error: n1: task 0: Exited with exit code 2
std::string reason_in(const std::string& path) {
  constexpr size_t kMost = size_t{16} << 10;
  constexpr size_t kMostShown = 300;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  constexpr std::string_view kOwn = "ncclog: ";
  std::string_view best;
  int weight = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty() || line.front() == ' ') continue;
    const bool is_error = line.find("error: ") != line.npos;
    const int own = line.starts_with(kOwn) ? 4 : !line.starts_with("srun: ") ? 3 : is_error ? 2 : 1;
    // The last thing that another program says is the reason, and the first of the others.
    if (own < weight || (own == weight && own != 3)) continue;
    weight = own;
    best = own == 4 ? line.substr(kOwn.size()) : line;
  }
  return std::string(trim(best).substr(0, kMostShown));
}

/// One of those that HeldBack holds; 0: none came in that time, or an ignored one, as nohup does.
int next_signal(const timespec& pause) {
  sigset_t ends_us;
  sigemptyset(&ends_us);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&ends_us, signal);
  }
  return std::max(sigtimedwait(&ends_us, nullptr, &pause), 0);
}

TaskEnd end_of(const HostTask& task, int status) {
  TaskEnd end;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  end.state = end.status == 0 ? TaskState::Done : TaskState::Failed;
  if (end.state != TaskState::Done) end.reason = reason_in(task.output);
  if (WIFSIGNALED(status) && end.reason.empty()) {
    end.reason = fmt::format("ended by signal {}", WTERMSIG(status));
  }
  return end;
}

// Tasks that run side by side.

struct Run {
  std::span<const HostTask> tasks;
  std::vector<TaskEnd> ends;        ///< Of each task.
  std::map<pid_t, size_t> running;  ///< Tasks by pid.
  TaskProgress progress;
  size_t next = 0;                ///< The first task that was not started.
  std::optional<double> stopped;  ///< When those that still ran were asked to stop.
};

void finish(size_t task, TaskEnd end, Run& run) {
  run.progress.done += end.state == TaskState::Done;
  run.progress.failed += end.state == TaskState::Failed;
  run.progress.late += end.state == TaskState::Late;
  run.ends[task] = std::move(end);
}

/// With the signals that were held `before`, in a group of its own.
void start_next(const sigset_t& before, Run& run) {
  const HostTask& task = run.tasks[run.next];
  const Descriptor output(
      open(task.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const pid_t pid = !output.is_open() ? -1
                                      : start_process({.arguments = task.arguments,
                                                       .output = output.get(),
                                                       .error = output.get(),
                                                       .held = before,
                                                       .leads_group = true,
                                                       .end_with_us = SIGTERM});
  if (pid > 0) {
    run.running.emplace(pid, run.next);
  } else {
    const std::string why = fmt::format("{}: {}", task.arguments.front(), std::strerror(errno));
    finish(run.next, {.reason = why}, run);
  }
  ++run.next;
}

/// Takes note of those that have ended.
void reap(Run& run) {
  std::erase_if(run.running, [&](const auto& one) {
    const auto& [pid, task] = one;
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == 0) return false;
    TaskEnd end = end_of(run.tasks[task], status);
    if (run.stopped && end.state != TaskState::Done) end = run.ends[task];
    finish(task, std::move(end), run);
    return true;
  });
}

void send(int number, const Run& run) {
  for (const auto& [pid, task] : run.running) kill(pid, number);
}

/// Asks those that run to stop, and starts no more.
void stop(Run& run) {
  run.stopped = run.progress.seconds;
  // What srun says of its own end is no reason.
  for (const auto& [pid, task] : run.running) {
    run.ends[task] = {.state = TaskState::Late, .reason = reason_in(run.tasks[task].output)};
  }
  send(SIGTERM, run);
  for (; run.next < run.tasks.size(); ++run.next) finish(run.next, {.state = TaskState::Late}, run);
}

}  // namespace

std::vector<TaskEnd> run_tasks(std::span<const HostTask> tasks, const TaskLimits& limits,
                               const std::function<void(const TaskProgress& progress)>& show) {
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 50'000'000};
  constexpr double kGrace = 5;  // Seconds between asking to stop and stopping.
  const auto begin = Clock::now();
  Run run{tasks, std::vector<TaskEnd>(tasks.size()), {}, {.all = tasks.size()}};
  int signal = 0;  // That ends this process, once they have ended.
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const HeldBack held;
  while (run.next < tasks.size() || !run.running.empty()) {
    while (run.next < tasks.size() && run.running.size() < limits.together) start_next(before, run);
    reap(run);
    run.progress.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    run.progress.running = run.running.size();
    show(run.progress);
    if (!run.stopped && run.progress.seconds > limits.seconds) stop(run);
    if (run.stopped && run.progress.seconds > *run.stopped + kGrace) send(SIGKILL, run);
    if (run.running.empty()) continue;
    const int came = next_signal(kPause);
    if (came <= 0) continue;
    if (signal != 0) send(SIGKILL, run);  // Who asks twice does not wait.
    signal = came;
    if (!run.stopped) stop(run);
  }
  if (signal != 0) raise(signal);
  return run.ends;
}

std::string output_of(const std::vector<std::string>& arguments, size_t most, int& status) {
  Pipe pipe(arguments.front());
  const Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const pid_t pid =
      start_process({.arguments = arguments, .output = pipe.write.get(), .error = nowhere.get()});
  if (pid < 0) {
    throw Error(std::strerror(errno), arguments.front(),
                "is it installed, and is this a host from which jobs are started?");
  }
  pipe.write.close();
  std::string output;
  char block[4096];
  for (ssize_t count = 1; count > 0 && output.size() < most;) {
    count = read(pipe.read.get(), block, sizeof(block));
    if (count > 0) output.append(block, static_cast<size_t>(count));
  }
  pipe.read.close();
  int ended = 0;
  waitpid(pid, &ended, 0);
  status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
  return output.substr(0, most);
}

std::string shell_text(std::span<const std::string> arguments) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  std::string text;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    if (!argument.empty() && argument.find_first_not_of(kPlain) == argument.npos) {
      text += argument;
      continue;
    }
    text += '\'';
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace ncclog
