// A command that runs as if nothing stood around it: its streams, its signals and its end are its
// own.
//
//   ncclog run -- python3 train.py      Ctrl-C reaches both; `kill -TERM` is passed on
//   ended by SIGSEGV                    so ends ncclog run
//
// Whoever waits is woken at intervals, to look at logs that no longer grow.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/posix.h"

namespace ncclog {

/// How a command ended.
struct CommandEnd {
  pid_t pid = -1;
  int status = 0;     ///< Its exit status, where no signal ended it.
  int signal = 0;     ///< Above 0: ended by it.
  int requested = 0;  ///< The first signal that somebody sent to end it; 0: none.
  int refused = 0;  ///< Of errno: why it could not be started; then `status` is what a shell gives.
  int copy_lost = 0;  ///< Of errno: why a copy of its output is not whole; 0: they are.
};

struct CommandStart {
  std::vector<std::string> arguments;                          ///< At least one.
  std::vector<std::pair<std::string, std::string>> variables;  ///< Added to the environment.
  /// Files to which standard output and standard error are copied while they are passed on; empty,
  /// or where they cannot be made: the command gets the streams themselves.
  std::string output_copy;
  std::string error_copy;
};

/// Holds signals until they are passed on to a command. To be made before any thread starts: a
/// library's own thread that does not hold them would take one, and end the process. NVML starts
/// such threads.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int file() const { return file_.get(); }  ///< Of signalfd.
  /// What was held before: what the command holds.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_ = {};
  Descriptor file_;
};

/// Starts the command and waits for its end; `tick` is called about once a second with its pid.
/// Signals are passed on, unless the terminal has sent them to the command, too. Streams that are
/// copied go on where this process is killed. Throws Error only where the system has no pipes.
CommandEnd run_command(const CommandStart& start, const HeldSignals& signals,
                       const std::function<void(pid_t pid)>& tick);

/// Ends this process as the command ended: by the same signal, without a second core dump. Returns
/// where no signal ended the command.
void end_like(const CommandEnd& end);

// What is asked of workers that no longer move: their stacks, and dumps of their Flight Recorders.

/// Processes that descend from `pid`, itself included, by /proc.
std::vector<pid_t> descendants_of(pid_t pid);

/// Runs a program for at most `seconds` with its output in a file. False if it cannot be started or
/// fails.
bool run_into_file(const std::vector<std::string>& arguments, const std::string& path, int seconds);

// Flight Recorders are asked through pipes.
//
//   TORCH_NCCL_DEBUG_INFO_PIPE_FILE=/tmp/ncclog-run-1f0c-rank-   set for the job
//   /tmp/ncclog-run-1f0c-rank-3.pipe                             rank 3 waits there
//   one byte into it                                             nccl_trace_rank_3 beside the logs
//
// PyTorch makes the pipes from 2.3 on, and ends the worker where it cannot
// (torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp, DumpPipe). So they lie in the folder for
// temporary files, which each host has.

/// A new beginning for the names of pipes; empty: pipes cannot be made on this host.
std::string new_pipe_stem();

/// Writes into each pipe at whose other end somebody reads; how many these were.
int ask_for_dumps(const std::string& stem);

/// How many there are.
size_t count_pipes(const std::string& stem);

/// Removes the pipes of this host.
void remove_pipes(const std::string& stem);

}  // namespace ncclog
