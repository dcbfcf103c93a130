// On which GPUs may a replay run here, and if on none, why?
//
//   the plan needs 4 GPUs, one for each rank, and this machine has 2
//   GPU 1 is busy: process 4711 uses it, 70.2 of 139.8 GiB are taken
//   --devices names GPU 0 twice: never two ranks on one GPU
//
// Pure: what is known of the machine is given.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/exec/gpu_state.h"
#include "replay/exec/leftovers.h"
#include "replay/exec/run_flags.h"

namespace ncclog {

/// What carries a replay out.
struct ReplayMachine {
  GpuMachine gpus;
  std::string nccl_version;    ///< Of the library that would be loaded.
  std::string nccl_library;    ///< Its path.
  std::string nccl_problem;    ///< Why it cannot be loaded, one sentence; empty: it can.
  int64_t shared_memory = -1;  ///< Free bytes of /dev/shm; -1: unknown.
  std::string shared_folder = kSharedMemory;  ///< Where NCCL has its shared memory.
  std::string program = "/proc/self/exe";     ///< Knows `rank` and `probe`.
};

/// GPUs by rank, or why there are none.
struct GpuChoice {
  std::vector<int> gpus;
  std::string refusal;  ///< One sentence; empty: there is none.
  std::string hint;

  bool operator==(const GpuChoice&) const = default;
};

/// One GPU for each rank of the plan. Nothing is tried out.
GpuChoice choose_gpus(const ReplayPlan& plan, const RunFlags& flags, const ReplayMachine& machine);

/// What somebody should know beforehand who runs `ranks` ranks here, one sentence; empty: nothing.
std::string machine_remark(size_t ranks, const ReplayMachine& machine);

}  // namespace ncclog
