// Did srun, mpirun or torchrun start this process as one task of several, and which one is it?
//
//   SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 SLURM_STEP_NODELIST=gpu[03-04]
//   → task 1 of 2, the first one on its host; task 0 is on gpu03
//
// Then every task runs `ncclog-replay run` with the same words, holds one rank of the plan, and
// task 0 coordinates. Pure: the environment is given.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replay/exec/run_environment.h"

namespace ncclog {

/// One of the tasks that a launcher started.
struct LauncherTask {
  std::string launcher;  ///< "srun", "mpirun" or "torchrun".
  int task = 0;          ///< The rank of the plan that it holds.
  int tasks = 1;
  int local = 0;     ///< Among the tasks of its host.
  std::string host;  ///< Where task 0 is; empty: the launcher does not say.
  int port = 0;      ///< Where task 0 shall listen.
  std::string job;   ///< What tells this launch from others; may be empty.

  bool operator==(const LauncherTask&) const = default;
};

/// nullopt: nobody started several tasks. A batch script is no task: sbatch sets SLURM_PROCID, but
/// no SLURM_STEP_NUM_TASKS.
std::optional<LauncherTask> launcher_task(const Environment& environment);

/// "gpu03" of "gpu[03-04,7],login": the first host of Slurm's list; empty: it is none.
std::string first_host(std::string_view nodelist);

/// What all tasks of a launch can tell, and others cannot guess without the plan and the job's
/// name: no secret, but enough that two launches do not meet.
std::string launch_token(const std::string& plan_hash, const std::string& job, size_t run);

}  // namespace ncclog
