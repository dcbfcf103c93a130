#include "support/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "support/process.h"

namespace ncclog::testing {
namespace {

using PipeEnds = std::array<int, 2>;

PipeEnds make_pipe() {
  PipeEnds ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  return ends;
}

[[noreturn]] void become(const TerminalCommand& command, const PipeEnds& in, const PipeEnds& out) {
  dup2(in[0], STDIN_FILENO);
  if (!command.output_too) dup2(out[1], STDOUT_FILENO);
  setenv("TERM", "xterm", 1);
  unsetenv("COLUMNS");
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// Text of a reader that others wait for.
class Screen {
 public:
  void add(std::string_view text) {
    const std::lock_guard lock(mutex_);
    text_ += text;
    change_.notify_all();
  }

  /// No more will come.
  void end() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    change_.notify_all();
  }

  void wait_for(std::string_view text) {
    constexpr auto kPatience = std::chrono::minutes(1);
    std::unique_lock lock(mutex_);
    change_.wait_for(lock, kPatience, [&] { return is_over_ || text_.find(text) != text_.npos; });
  }

  std::string take() { return std::move(text_); }

 private:
  std::mutex mutex_;
  std::condition_variable change_;
  std::string text_;
  bool is_over_ = false;
};

/// Until the other side is closed; a terminal whose program has ended gives an error, too.
void drain(int end, Screen& screen) {
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; (n = read(end, buffer.data(), buffer.size())) > 0;) {
    screen.add({buffer.data(), static_cast<size_t>(n)});
  }
  screen.end();
}

void feed(const TerminalCommand& command, Screen& seen, int end) {
  for (const std::string& piece : command.pieces) {
    if (write(end, piece.data(), piece.size()) < 0) break;
  }
  if (!command.until_seen.empty()) seen.wait_for(command.until_seen);
  if (command.before_end) command.before_end();
  close(end);
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

bool has_terminals() {
  int terminal = -1;
  int program = -1;
  if (openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0) return false;
  close(terminal);
  close(program);
  return true;
}

TerminalRun run_in_terminal(const TerminalCommand& command) {
  const PipeEnds in = make_pipe();
  const PipeEnds out = make_pipe();
  winsize size{};
  size.ws_row = 24;
  size.ws_col = static_cast<unsigned short>(command.columns);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty failed");
  if (child == 0) become(command, in, out);
  close(in[0]);
  close(out[1]);
  const IgnoredSigpipe while_it_runs;
  Screen seen;
  Screen output;
  std::thread feeder([&] { feed(command, seen, in[1]); });
  std::thread reader([&] { drain(out[0], output); });
  drain(terminal, seen);
  feeder.join();
  reader.join();
  TerminalRun run{.seen = seen.take(), .output = output.take()};
  close(out[0]);
  run.exit_code = status_of(child);
  close(terminal);
  return run;
}

}  // namespace ncclog::testing
