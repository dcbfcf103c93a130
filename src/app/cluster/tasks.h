// Programs that are started for a set of hosts, some of them at a time, and waited for.
//
//   srun … ncclog scan … -o n1.part     done
//   srun … ncclog scan … -o n2.part     failed: srun: error: n2: task 0: Killed
//   srun … ncclog scan … -o n3.part     late: stopped after 600 s
//
// No shell is involved: arguments are what they are. What a program writes goes to a file of its
// own, from which the line that tells the reason is told if it fails.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ncclog {

/// A program to be started.
struct HostTask {
  std::string host;                    ///< For whom.
  std::vector<std::string> arguments;  ///< The first one is the program, found by PATH.
  std::string output;                  ///< File for what it writes to standard output and error.
};

enum class TaskState { Done, Failed, Late };

struct TaskEnd {
  TaskState state = TaskState::Failed;
  int status = -1;     ///< Its exit status; -1: it was killed, or could not be started.
  std::string reason;  ///< What was said of it, a line that may hold any bytes; empty: nothing.
};

/// How far a set of tasks is.
struct TaskProgress {
  size_t all = 0;
  size_t running = 0;
  size_t done = 0;
  size_t failed = 0;
  size_t late = 0;
  double seconds = 0;
};

struct TaskLimits {
  size_t together = 32;  ///< Programs that run at the same time; at least 1.
  double seconds = 600;  ///< From the start of the first to when those that still run are stopped.
};

/// Runs all of them; by task, how each ended. `show` is called often. SIGINT, SIGTERM and SIGHUP are
/// passed on to them as SIGTERM, and end ncclog once they have ended; SIGKILL of ncclog reaches them
/// as SIGTERM, too.
std::vector<TaskEnd> run_tasks(std::span<const HostTask> tasks, const TaskLimits& limits,
                               const std::function<void(const TaskProgress& progress)>& show);

/// What a program prints: at most `most` bytes of its standard output. Throws Error (where: the
/// program) if it cannot be started; `status` is its exit status.
std::string output_of(const std::vector<std::string>& arguments, size_t most, int& status);

/// The arguments as a shell reads them: "srun --nodelist=n1 ncclog scan '/logs of mine'".
std::string shell_text(std::span<const std::string> arguments);

}  // namespace ncclog
