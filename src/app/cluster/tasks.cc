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
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"

namespace ncclog {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The last line that says something: srun names the reason last.
std::string last_line(const std::string& path) {
  constexpr size_t kMost = size_t{16} << 10;
  constexpr size_t kMostShown = 300;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMost, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  std::string last;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) last = trim(line).substr(0, kMostShown);
  }
  return last;
}

TaskEnd end_of(const HostTask& task, int status, bool is_late) {
  TaskEnd end;
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  end.state = is_late ? TaskState::Late : end.status == 0 ? TaskState::Done : TaskState::Failed;
  if (end.state != TaskState::Done) end.reason = last_line(task.output);
  if (WIFSIGNALED(status) && end.reason.empty()) {
    end.reason = fmt::format("ended by signal {}", WTERMSIG(status));
  }
  return end;
}

}  // namespace

std::vector<TaskEnd> run_tasks(std::span<const HostTask> tasks, const TaskLimits& limits,
                               const std::function<void(const TaskProgress& progress)>& show) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  constexpr double kGrace = 5;  // Seconds between asking to stop and stopping.
  const auto begin = Clock::now();
  std::vector<TaskEnd> ends(tasks.size());
  std::map<pid_t, size_t> running;  // Tasks by pid.
  TaskProgress progress{.all = tasks.size()};
  size_t next = 0;
  bool is_late = false;
  bool is_killed = false;
  const auto finish = [&](size_t task, TaskEnd&& end) {
    progress.done += end.state == TaskState::Done;
    progress.failed += end.state == TaskState::Failed;
    progress.late += end.state == TaskState::Late;
    ends[task] = std::move(end);
  };
  while (next < tasks.size() || !running.empty()) {
    while (next < tasks.size() && running.size() < limits.together && !is_late) {
      const HostTask& task = tasks[next];
      const Descriptor output(
          open(task.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      const pid_t pid =
          !output.is_open()
              ? -1
              : start_process(
                    {.arguments = task.arguments, .output = output.get(), .error = output.get()});
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
      finish(task, end_of(tasks[task], status, is_late));
      return true;
    });
    progress.seconds = seconds_since(begin);
    progress.running = running.size();
    show(progress);
    if (!is_late && progress.seconds > limits.seconds) {
      is_late = true;
      for (const auto& [pid, task] : running) kill(pid, SIGTERM);
      for (; next < tasks.size(); ++next) finish(next, {.state = TaskState::Late});
    }
    if (is_late && !is_killed && progress.seconds > limits.seconds + kGrace) {
      is_killed = true;
      for (const auto& [pid, task] : running) kill(pid, SIGKILL);
    }
    if (!running.empty()) std::this_thread::sleep_for(kPause);
  }
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
