#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace ncclog::testing {
namespace {

/// A pipe whose ends close themselves.
struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    read_end = ends[0];
    write_end = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

[[noreturn]] void become(const Command& command, Pipe& in, Pipe& out, Pipe& err) {
  dup2(in.read_end, STDIN_FILENO);
  dup2(out.write_end, STDOUT_FILENO);
  dup2(err.write_end, STDERR_FILENO);
  if (!command.folder.empty() && chdir(command.folder.c_str()) != 0) _exit(127);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

void take(int& end, std::string& text) {
  std::array<char, 65536> buffer;
  ssize_t n = read(end, buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
  if (n == 0) Pipe::close_end(end);
}

void give(int& end, std::string_view& rest) {
  // What a pipe takes at once; more could block while the other side waits for us to read.
  ssize_t n = write(end, rest.data(), std::min<size_t>(rest.size(), PIPE_BUF));
  if (n > 0) rest.remove_prefix(static_cast<size_t>(n));
  if (n <= 0 || rest.empty()) Pipe::close_end(end);
}

/// Feeds and reads until the process has closed both outputs; poll ignores ends that are closed, and
/// the input's before it is due. Who is silent for two minutes will not tell.
void exchange(const Command& command, Pipe& in, Pipe& out, Pipe& err, Outcome& outcome) {
  constexpr int kPatienceMs = 120'000;
  std::string_view input = command.standard_input;
  bool is_due = command.until_told.empty();
  while (out.read_end >= 0 || err.read_end >= 0) {
    if (!is_due) is_due = outcome.standard_error.find(command.until_told) != std::string::npos;
    if (is_due && input.empty()) Pipe::close_end(in.write_end);
    std::array<pollfd, 3> polled{{{is_due ? in.write_end : -1, POLLOUT, 0},
                                  {out.read_end, POLLIN, 0},
                                  {err.read_end, POLLIN, 0}}};
    const int ready = poll(polled.data(), polled.size(), is_due ? -1 : kPatienceMs);
    if (ready < 0) return;
    is_due = is_due || ready == 0;
    if (polled[0].revents != 0) give(in.write_end, input);
    if (polled[1].revents != 0) take(out.read_end, outcome.standard_output);
    if (polled[2].revents != 0) take(err.read_end, outcome.standard_error);
  }
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void wait_for(pid_t child, Outcome& outcome) {
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return;
  outcome.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.peak_rss_kib = usage.ru_maxrss;
  outcome.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

IgnoredSigpipe::IgnoredSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
IgnoredSigpipe::~IgnoredSigpipe() { std::signal(SIGPIPE, before_); }

Outcome run_command(const Command& command) {
  const IgnoredSigpipe while_it_runs;
  auto start = std::chrono::steady_clock::now();
  Pipe in, out, err;
  pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    become(command, in, out, err);
  }
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  Outcome outcome;
  exchange(command, in, out, err, outcome);
  wait_for(child, outcome);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace ncclog::testing
