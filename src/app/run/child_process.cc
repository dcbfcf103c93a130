#include "app/run/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace ncclog {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

/// A stream of the command that is passed on and copied.
class CopiedStream {
 public:
  /// `to` is where it is passed on; `path` the copy. Empty: nothing is copied.
  CopiedStream(int to, const std::string& path) : to_(to) {
    if (path.empty()) return;
    copy_ =
        Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    lost_ = copy_.is_open() ? 0 : errno;
    if (lost_ == 0) pipe_.emplace("");
    if (pipe_) fcntl(pipe_->read.get(), F_SETFL, O_NONBLOCK);
  }

  int reading_end() const { return pipe_ ? pipe_->read.get() : -1; }
  int writing_end() const { return pipe_ ? pipe_->write.get() : -1; }
  int lost() const { return lost_; }  ///< Why the copy is not whole, of errno; 0: it is.
  void close_writing_end() {
    if (pipe_) pipe_->write.close();
  }
  void close_reading_end() {
    if (pipe_) pipe_->read.close();
  }
  /// The command gets the stream itself.
  void copy_nothing(int reason) {
    pipe_.reset();
    lost_ = reason;
  }

  /// Passes on what is there; at the end of the stream, nothing is read any more.
  void pass_on() {
    std::array<char, size_t{64} << 10> block;
    while (reading_end() >= 0) {
      const ssize_t count = read(reading_end(), block.data(), block.size());
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
      const std::string_view text(block.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
      // Behind a hole, nothing more is copied.
      if (lost_ == 0 && !write_whole(copy_.get(), text)) lost_ = errno;
      // Where the reader went away the command shall meet that, too.
      if (text.empty() || !write_whole(to_, text)) pipe_->read.close();
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
  std::optional<Pipe> pipe_;
  Descriptor copy_;
  int lost_ = 0;
};

/// Passes both streams on in a process of its own: what the command writes goes on while logs are
/// judged, and where this process is killed.
class StreamCopier {
 public:
  /// To be made before the command starts: where there is no process for it, nothing is copied.
  StreamCopier(CopiedStream& output, CopiedStream& error) : output_(output), error_(error) {
    if (output.reading_end() < 0 && error.reading_end() < 0) return;
    Pipe end("");
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_NAME, "copy-of-output");
      output.close_writing_end();
      error.close_writing_end();
      end.write.close();
      run(output, error, end.read.get());
    }
    if (pid_ < 0) {
      for (CopiedStream* stream : {&output, &error}) stream->copy_nothing(errno);
    }
    output.close_reading_end();
    error.close_reading_end();
    end_ = std::move(end.write);
  }

  /// Why a copy is not whole, of errno; 0: all are. What the command has written is there then;
  /// others that hold the streams are not waited for.
  int finish() {
    const int lost = std::max(output_.lost(), error_.lost());
    if (pid_ <= 0) return lost;
    [[maybe_unused]] const ssize_t written = write(end_.get(), "e", 1);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return std::max(lost, WIFEXITED(status) ? WEXITSTATUS(status) : EIO);
  }

 private:
  [[noreturn]] static void run(CopiedStream& output, CopiedStream& error, int end) {
    bool is_ending = false;
    while (!is_ending && (output.reading_end() >= 0 || error.reading_end() >= 0)) {
      pollfd files[3] = {
          {end, POLLIN, 0}, {output.reading_end(), POLLIN, 0}, {error.reading_end(), POLLIN, 0}};
      poll(files, 3, -1);
      char byte = 0;
      if (files[0].revents != 0) {
        is_ending = read(end, &byte, 1) == 1;
        if (!is_ending) end = -1;  // Who would have said so is gone; the streams end by themselves.
      }
      output.pass_on();
      error.pass_on();
    }
    _exit(std::max(output.lost(), error.lost()));
  }

  const CopiedStream& output_;
  const CopiedStream& error_;
  pid_t pid_ = -1;
  Descriptor end_;
};

/// The environment with `added` instead of what had the same names.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> lines;
  for (const std::string& line : environment_variables()) {
    const std::string_view name = std::string_view(line).substr(0, line.find('='));
    const bool is_replaced =
        std::ranges::any_of(added, [&](const auto& variable) { return variable.first == name; });
    if (!is_replaced) lines.push_back(line);
  }
  for (const auto& [name, value] : added) lines.push_back(name + "=" + value);
  return lines;
}

/// Passes a signal on, unless the command has got it already.
void pass_on(const signalfd_siginfo& info, CommandEnd& end) {
  const auto signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGCHLD) return;
  const bool asks_for_end =
      signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
  if (asks_for_end && end.requested == 0) end.requested = signal;
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
  file_ = Descriptor(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

CommandEnd run_command(const CommandStart& start, const HeldSignals& signals,
                       const std::function<void(pid_t pid)>& tick) {
  CopiedStream output(STDOUT_FILENO, start.output_copy);
  CopiedStream error(STDERR_FILENO, start.error_copy);
  StreamCopier copier(output, error);
  CommandEnd end;
  end.pid = start_process({.arguments = start.arguments,
                           .environment = environment_with(start.variables),
                           .has_input = true,
                           .output = output.writing_end(),
                           .error = error.writing_end(),
                           .held = signals.before()});
  if (end.pid < 0) {
    end.refused = errno;
    // As shells have it.
    end.status = end.refused == ENOENT || end.refused == ENOTDIR ? 127 : 126;
  }
  output.close_writing_end();
  error.close_writing_end();
  using Clock = std::chrono::steady_clock;
  constexpr auto kTick = std::chrono::seconds(1);
  auto next = Clock::now() + kTick;
  while (end.refused == 0 && !has_ended(end)) {
    pollfd file = {signals.file(), POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now());
    poll(&file, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    signalfd_siginfo info;
    while (read(signals.file(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      pass_on(info, end);
    }
    if (Clock::now() < next) continue;
    tick(end.pid);
    next = Clock::now() + kTick;
  }
  end.copy_lost = copier.finish();
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

// Asking workers that no longer move.

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".pipe";

std::vector<fs::path> pipes_of(const std::string& stem) {
  std::vector<fs::path> pipes;
  std::error_code error;
  const std::string name = fs::path(stem).filename();
  for (fs::directory_iterator it(fs::path(stem).parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string one = it->path().filename();
    std::error_code ignored;
    if (one.starts_with(name) && one.ends_with(kEnding) &&
        fs::is_fifo(it->symlink_status(ignored))) {
      pipes.push_back(it->path());
    }
  }
  return pipes;
}

}  // namespace

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
    for (fs::directory_iterator it(tasks, error), end; !error && it != end; it.increment(error)) {
      std::ifstream list(it->path() / "children");
      for (pid_t child = 0; list >> child;) open.push_back(child);
    }
  }
  return {all.begin(), all.end()};
}

bool run_into_file(const std::vector<std::string>& arguments, const std::string& path,
                   int seconds) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) return false;
  const pid_t child = start_process({.arguments = arguments,
                                     .has_input = true,
                                     .output = file.get(),
                                     .error = file.get(),
                                     .held = sigset_t()});
  if (child < 0) return false;
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

std::string new_pipe_stem() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return {};
  std::random_device random;
  std::string stem = folder / fmt::format("ncclog-run-{:08x}{:08x}-rank-", random(), random());
  const std::string trial = fmt::format("{}trial{}", stem, kEnding);
  if (mkfifo(trial.c_str(), 0600) != 0) return {};
  unlink(trial.c_str());
  return stem;
}

int ask_for_dumps(const std::string& stem) {
  int asked = 0;
  for (const fs::path& path : pipes_of(stem)) {
    // Without a reader this fails instead of waiting for one.
    const Descriptor pipe(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    asked += pipe.is_open() && write(pipe.get(), "1", 1) == 1;
  }
  return asked;
}

size_t count_pipes(const std::string& stem) { return stem.empty() ? 0 : pipes_of(stem).size(); }

void remove_pipes(const std::string& stem) {
  if (stem.empty()) return;
  for (const fs::path& path : pipes_of(stem)) unlink(path.c_str());
}

}  // namespace ncclog
