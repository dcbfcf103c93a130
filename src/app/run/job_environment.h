// What does a job's environment need, so that its logs can be judged, and which task is this?
//
//   --level normal   NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,ENV,…   about 30 kB a rank
//   NCCL_DEBUG=WARN is set already                                   kept, and said so
//   SLURM_PROCID=3, SLURM_STEP_NUM_TASKS=8                           task 3 of 8
//
// Pure: an environment in, settings out.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// How much is logged.
enum class LogLevel {
  Light,        ///< How communicators are set up.
  Normal,       ///< Also networks, topology and settings.
  Collectives,  ///< Also each call: who called what, and who did not.
};

/// A variable of the job.
struct JobSetting {
  std::string name;
  std::string value;
  bool is_kept = false;  ///< The user has set it: `value` is the user's.
};

/// The value of a variable of the environment; empty: it is not set, or empty.
using VariableReader = std::function<std::string(const std::string& name)>;

/// How the names of the Flight Recorder's dumps begin; the rank stands behind it.
inline constexpr std::string_view kDumpName = "nccl_trace_rank_";

/// What the command gets, in the order in which people write it. `folder` is an absolute path;
/// `pipe_stem` is of new_pipe_stem (app/run/child_process.h): empty for a job that nobody asks.
std::vector<JobSetting> job_settings(LogLevel level, const std::string& folder,
                                     const std::string& pipe_stem,
                                     const VariableReader& environment);

/// "about 40 kB for each rank, and 300 bytes for each collective: some 11 MB an hour at 10 calls a
/// second": what a level costs.
std::string_view cost_of(LogLevel level);

/// Where a command stands among those that a launcher started alike.
struct LaunchedTask {
  std::string launcher;  ///< "srun", "torchrun", "mpirun"; empty: it was started alone.
  int number = 0;
  int count = 1;
  /// What all tasks of one start have in common and others mostly have not: "slurm-77.0".
  std::string start;
};

LaunchedTask task_of(const VariableReader& environment);

}  // namespace ncclog
