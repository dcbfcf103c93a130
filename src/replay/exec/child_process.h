// A process that a run started: known by its pid, heard of when it ends, never left behind.
//
//   ChildProcess rank({.program = "/proc/self/exe", .arguments = {"ncclog-replay", "rank", …}});
//   poll(rank.descriptor()) … rank.reap()   →  ended by signal 9
//
// The process leads a process group of its own, so that Ctrl-C reaches the coordinator alone, and
// is killed by the kernel if the coordinator dies.

#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "replay/exec/run_environment.h"

namespace ncclog {

/// What is started, and with what around it.
struct ProcessStart {
  std::string program;                 ///< Path of the executable.
  std::vector<std::string> arguments;  ///< The program's name first.
  Environment environment;             ///< All of it.
  std::string output;                  ///< File for its standard output and error.

  bool operator==(const ProcessStart&) const = default;
};

/// How a process ended.
struct ProcessStatus {
  int exit_code = -1;  ///< -1: by a signal.
  int signal = 0;      ///< 0: none.

  bool operator==(const ProcessStatus&) const = default;
};

/// Invariant: a process that has not been reaped is killed and waited for when the object goes.
class ChildProcess {
 public:
  /// Throws Error if the program cannot be started.
  explicit ChildProcess(const ProcessStart& start);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }

  /// Becomes readable when the process ends; -1 where the kernel has no such descriptors (before
  /// Linux 5.3): then ask reap() now and then.
  int descriptor() const { return descriptor_; }

  bool is_running() const { return pid_ > 0 && !status_; }

  /// How it ended, without waiting; nullopt: it still runs.
  std::optional<ProcessStatus> reap();

  /// Sends a signal if it still runs.
  void signal(int number);

  /// Gives a process up that not even SIGKILL ends (it hangs in the kernel).
  void abandon();

 private:
  pid_t pid_ = -1;
  int descriptor_ = -1;
  std::optional<ProcessStatus> status_;
};

/// What a process wrote last: the last line of its output, printable; empty: there is none.
std::string last_line_of(const std::string& path);

/// "SIGKILL" for 9; "signal 64" for those without a name.
std::string signal_name(int number);

}  // namespace ncclog
