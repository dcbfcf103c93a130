#include "replay/exec/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// What exec wants, made before the process forks: nothing may be allocated after it.
struct ExecTexts {
  explicit ExecTexts(const ProcessStart& start) {
    for (const auto& [name, value] : start.environment)
      entries.push_back(fmt::format("{}={}", name, value));
    for (const std::string& argument : start.arguments) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    for (const std::string& entry : entries) {
      environment.push_back(const_cast<char*>(entry.c_str()));
    }
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
  }

  std::vector<std::string> entries;
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

bool redirect(const char* output) {
  const int input = open("/dev/null", O_RDONLY);
  const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (input < 0 || file < 0) return false;
  dup2(input, STDIN_FILENO);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  if (input > STDERR_FILENO) close(input);
  if (file > STDERR_FILENO) close(file);
  return true;
}

/// In the child. Writes errno to `report` if the program cannot be started.
[[noreturn]] void become(const ProcessStart& start, ExecTexts& texts, pid_t parent, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (getppid() == parent && redirect(start.output.c_str())) {
    execve(start.program.c_str(), texts.arguments.data(), texts.environment.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof error);
  _exit(127);
}

int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  return -1;
#endif
}

ProcessStatus status_of(int status) {
  if (WIFEXITED(status)) return {WEXITSTATUS(status), 0};
  return {-1, WTERMSIG(status)};
}

}  // namespace

ChildProcess::ChildProcess(const ProcessStart& start) {
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) throw Error(std::strerror(errno), start.program);
  ExecTexts texts(start);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(start, texts, parent, report[1]);
  close(report[1]);
  int error = pid_ < 0 ? errno : 0;
  if (pid_ > 0) [[maybe_unused]]
    const ssize_t n = read(report[0], &error, sizeof error);
  close(report[0]);
  if (error != 0) {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    throw Error(std::string("cannot be started: ") + std::strerror(error), start.program);
  }
  descriptor_ = open_pidfd(pid_);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (is_running()) {
    signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<ProcessStatus> ChildProcess::reap() {
  if (!is_running()) return status_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) status_ = status_of(status);
  return status_;
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

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

}  // namespace ncclog
