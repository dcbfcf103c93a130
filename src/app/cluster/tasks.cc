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

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

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

}  // namespace

std::vector<TaskEnd> run_tasks(std::span<const HostTask> tasks, const TaskLimits& limits,
                               const std::function<void(const TaskProgress& progress)>& show) {
  constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 50'000'000};
  constexpr double kGrace = 5;  // Seconds between asking to stop and stopping.
  const auto begin = Clock::now();
  std::vector<TaskEnd> ends(tasks.size());
  std::map<pid_t, size_t> running;  // Tasks by pid.
  TaskProgress progress{.all = tasks.size()};
  size_t next = 0;
  std::optional<double> stopped;  // When those that still ran were asked to stop.
  int signal = 0;                 // That ends this process, once they have ended.
  const auto finish = [&](size_t task, TaskEnd&& end) {
    progress.done += end.state == TaskState::Done;
    progress.failed += end.state == TaskState::Failed;
    progress.late += end.state == TaskState::Late;
    ends[task] = std::move(end);
  };
  const auto send = [&](int number) {
    for (const auto& [pid, task] : running) kill(pid, number);
  };
  const auto stop = [&] {
    stopped = progress.seconds;
    // What srun says of its own end is no reason.
    for (const auto& [pid, task] : running) {
      ends[task] = {.state = TaskState::Late, .reason = reason_in(tasks[task].output)};
    }
    send(SIGTERM);
    for (; next < tasks.size(); ++next) finish(next, {.state = TaskState::Late});
  };
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const HeldBack held;
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && running.size() < limits.together) {
      const HostTask& task = tasks[next];
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
        running.emplace(pid, next);
      } else {
        finish(next,
               {.reason = fmt::format("{}: {}", task.arguments.front(), std::strerror(errno))});
      }
      ++next;
    }
    std::erase_if(running, [&](const auto& one) {
      const auto& [pid, task] = one;
      int status = 0;
      if (waitpid(pid, &status, WNOHANG) == 0) return false;
      TaskEnd end = end_of(tasks[task], status);
      if (stopped && end.state != TaskState::Done) end = ends[task];
      finish(task, std::move(end));
      return true;
    });
    progress.seconds = seconds_since(begin);
    progress.running = running.size();
    show(progress);
    if (!stopped && progress.seconds > limits.seconds) stop();
    if (stopped && progress.seconds > *stopped + kGrace) send(SIGKILL);
    if (running.empty()) continue;
    const int came = next_signal(kPause);
    if (came <= 0) continue;
    if (signal != 0) send(SIGKILL);  // Who asks twice does not wait.
    signal = came;
    if (!stopped) stop();
  }
  if (signal != 0) raise(signal);
  return ends;
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
