#include "app/run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int file = -1) : file_(file) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return file_; }
  void reset(int file = -1) {
    if (file_ >= 0) close(file_);
    file_ = file;
  }

 private:
  int file_;
};

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

bool asks_for_end(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

/// A stream of the command that is passed on and copied.
class CopiedStream {
 public:
  /// `to` is where it is passed on; `path` the copy. Empty: nothing is copied.
  CopiedStream(int to, const std::string& path) : to_(to) {
    if (path.empty()) return;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::strerror(errno), "", "");
    read_.reset(ends[0]);
    write_.reset(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    copy_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (copy_.get() < 0) throw Error(std::strerror(errno), path);
  }

  int reading_end() const { return read_.get(); }
  int writing_end() const { return write_.get(); }
  void close_writing_end() { write_.reset(); }

  /// Passes on what is there; at the end of the stream, nothing is read any more.
  void pass_on() {
    std::array<char, size_t{64} << 10> block;
    while (read_.get() >= 0) {
      const ssize_t count = read(read_.get(), block.data(), block.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (count <= 0) return read_.reset();
      const std::string_view text(block.data(), static_cast<size_t>(count));
      write_whole(copy_.get(), text);
      // The reader went away: the command shall meet that, too.
      if (!write_whole(to_, text)) return read_.reset();
    }
  }

 private:
  static bool write_whole(int file, std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = write(file, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) {
        pollfd ready{file, POLLOUT, 0};
        poll(&ready, 1, -1);
        continue;
      }
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  int to_;
  Descriptor read_;
  Descriptor write_;
  Descriptor copy_;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The environment with `added` instead of what had the same names.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> lines;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view line = *each;
    const std::string_view name = line.substr(0, line.find('='));
    const bool is_replaced =
        std::ranges::any_of(added, [&](const auto& variable) { return variable.first == name; });
    if (!is_replaced) lines.emplace_back(line);
  }
  for (const auto& [name, value] : added) lines.push_back(name + "=" + value);
  return lines;
}

/// In the child: becomes the command, or tells why not through `failed`.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& variables,
                         const sigset_t& mask, int output, int error, int failed) {
  // main() ignores it for itself.
  std::signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  if (error >= 0) dup2(error, STDERR_FILENO);
  execvpe(arguments[0], arguments.data(), variables.data());
  const int reason = errno;
  if (write(failed, &reason, sizeof(reason)) < 0) _exit(126);
  _exit(127);
}

/// Passes a signal on, unless the command has got it already.
void pass_on(const signalfd_siginfo& info, CommandEnd& end) {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGCHLD) return;
  if (asks_for_end(signal) && end.requested == 0) end.requested = signal;
  // What the terminal sends goes to all processes in its foreground.
  if (info.ssi_code != SI_KERNEL) kill(end.pid, signal);
}

bool has_ended(CommandEnd& end) {
  int status = 0;
  if (waitpid(end.pid, &status, WNOHANG) != end.pid) return false;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  return true;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGCHLD);
  for (const int signal : kPassedOn) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before_);
  file_ = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
}

HeldSignals::~HeldSignals() {
  if (file_ >= 0) close(file_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

CommandEnd run_command(const CommandStart& start, const HeldSignals& signals,
                       const std::function<void(pid_t pid)>& tick) {
  CopiedStream output(STDOUT_FILENO, start.output_copy);
  CopiedStream error(STDERR_FILENO, start.error_copy);
  std::vector<std::string> words = start.arguments;
  std::vector<std::string> lines = environment_with(start.variables);
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(lines);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::strerror(errno));
  const Descriptor failed_read(ends[0]);
  Descriptor failed_write(ends[1]);
  CommandEnd end;
  end.pid = fork();
  if (end.pid < 0) throw Error(std::strerror(errno), words[0]);
  if (end.pid == 0) {
    become(arguments, variables, signals.before(), output.writing_end(), error.writing_end(),
           failed_write.get());
  }
  failed_write.reset();
  output.close_writing_end();
  error.close_writing_end();
  int reason = 0;
  if (read(failed_read.get(), &reason, sizeof(reason)) == static_cast<ssize_t>(sizeof(reason))) {
    waitpid(end.pid, nullptr, 0);
    throw Error(std::strerror(reason), words[0], "this command could not be started");
  }
  using Clock = std::chrono::steady_clock;
  constexpr auto kTick = std::chrono::seconds(1);
  auto next = Clock::now() + kTick;
  while (!has_ended(end)) {
    pollfd files[3] = {{signals.file(), POLLIN, 0},
                       {output.reading_end(), POLLIN, 0},
                       {error.reading_end(), POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
    poll(files, 3, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    output.pass_on();
    error.pass_on();
    signalfd_siginfo info;
    while (read(signals.file(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      pass_on(info, end);
    }
    if (Clock::now() < next) continue;
    tick(end.pid);
    next = Clock::now() + kTick;
  }
  // What the command has written is there. Others that hold the streams are not waited for.
  output.pass_on();
  error.pass_on();
  return end;
}

void end_like(const CommandEnd& end) {
  if (end.signal <= 0) return;
  const rlimit none = {};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(end.signal, SIG_DFL);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, end.signal);
  sigprocmask(SIG_UNBLOCK, &mask, nullptr);
  raise(end.signal);
}

std::vector<pid_t> descendants_of(pid_t pid) {
  std::set<pid_t> all;
  std::vector<pid_t> open = {pid};
  while (!open.empty()) {
    const pid_t one = open.back();
    open.pop_back();
    if (!all.insert(one).second) continue;
    // Each thread lists the children that it has made.
    const std::string tasks = fmt::format("/proc/{}/task", one);
    std::error_code error;
    for (std::filesystem::directory_iterator it(tasks, error), end; !error && it != end;
         it.increment(error)) {
      std::ifstream list(it->path() / "children");
      for (pid_t child = 0; list >> child;) open.push_back(child);
    }
  }
  return {all.begin(), all.end()};
}

bool run_into_file(const std::vector<std::string>& arguments, const std::string& path,
                   int seconds) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return false;
  std::vector<std::string> words = arguments;
  const std::vector<char*> pointers = pointers_to(words);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    dup2(file.get(), STDOUT_FILENO);
    dup2(file.get(), STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  for (int tenths = 0; tenths < seconds * 10; ++tenths) {
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    usleep(100'000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

}  // namespace ncclog
