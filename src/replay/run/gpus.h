// What is there on this machine to run on, does it still work after a run, and what did the run
// leave behind: GPUs, NCCL's shared memory, processes.
//
//   the plan needs 4 GPUs, one for each rank, and this machine has 2
//   GPU 1 is busy: process 4711 uses it, 70.2 of 139.8 GiB are taken
//   /dev/shm/nccl-x8Kw2a      left by a rank that was killed
//
// What CUDA says of the GPUs is given (replay/run/machine.h asks it).

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/run/processes.h"

namespace ncclog {

// What did a run leave behind on this machine, and who may take it away?
//
//   /dev/shm/nccl-x8Kw2a      NCCL's shared memory (src/misc/shmutils.cc: mkstemp of nccl-XXXXXX;
//                             before 2.9 nccl-shm-recv-…): unlinked once both ends have it, so what
//                             is left is of ranks that were killed in between
//   process 4712 (sleep)      a child of a rank
//
// Sockets between ranks have abstract names and need no cleaning. Nothing is touched that was there
// before the run, that another user owns, or that a living process has mapped.

inline constexpr const char* kSharedMemory = "/dev/shm";

/// Names of NCCL's segments in `folder`.
std::set<std::string> segments_in(const std::string& folder = kSharedMemory);

/// Names of NCCL's segments that the process has mapped. Empty if it is gone, or not ours.
std::set<std::string> segments_of(pid_t pid);

/// Removes the segments that ranks of the run were seen to use (`used`) and that no process has
/// mapped any more. Others that are not in `before` and that nobody seems to use are only told: a
/// job in another container may share the folder, and its processes are not seen. Returns what was
/// found, a text each.
std::vector<std::string> remove_segments(const std::set<std::string>& before,
                                         const std::set<std::string>& used,
                                         const std::string& folder = kSharedMemory);

/// Free bytes of the file system that holds `folder`; -1: unknown.
int64_t free_bytes(const std::string& folder = kSharedMemory);

/// From now on children of processes that end become this process's own, so that they can be found
/// and ended.
void adopt_orphans();

/// Kills what is left of the process groups that `leaders` led, and processes that carry the run's
/// token in their environment (children that left the group). Returns what was found, a text each.
std::vector<std::string> end_strays(const std::vector<pid_t>& leaders, const std::string& token);

// What do we know of a GPU of this machine before and after a run?
//
//   ncclog-replay gpus   →  GPU 0: NVIDIA H200, 0000:0a:00.0, 139 of 140 GiB free, no process on it
//   ncclog-replay probe 0  →  {"gpu":0,"answers":true,"free_before":null,"free_after":149260000000}

/// A GPU before a run.
struct GpuState {
  ReplayGpu gpu;
  int64_t free = -1;  ///< Bytes of its memory; -1: unknown.
  /// Processes that compute on it, this one aside; nullopt: the driver does not tell.
  std::optional<std::vector<int64_t>> processes;
};

/// What would carry a replay out here. Versions as "13.0"; empty: there is none.
struct ReplayMachine {
  std::vector<GpuState> gpus;  ///< By CUDA's index.
  std::string runtime;         ///< CUDA that ncclog-replay was built with.
  std::string driver;          ///< CUDA that the driver supports.
  std::string problem;         ///< Why no GPU can be used, one sentence; empty: they can.
  std::string nccl_version;    ///< Of the library that would be loaded.
  std::string nccl_library;    ///< Its path.
  std::string nccl_problem;    ///< Why it cannot be loaded, one sentence; empty: it can.
  int64_t shared_memory = -1;  ///< Free bytes of /dev/shm; -1: unknown.
  std::string shared_folder = kSharedMemory;  ///< Where NCCL has its shared memory.
  std::string program = "/proc/self/exe";     ///< Knows `rank` and `probe`.
};

/// The GPUs as one JSON object, for programs.
std::string write_gpus_json(const ReplayMachine& machine);

/// For people, lines with their ends.
std::string write_gpus_text(const ReplayMachine& machine);

// On which GPUs may a replay run here, and if on none, why?
//
//   the plan needs 4 GPUs, one for each rank, and this machine has 2
//   GPU 1 is busy: process 4711 uses it, 70.2 of 139.8 GiB are taken
//   --devices names GPU 0 twice: never two ranks on one GPU
//
// Pure: what is known of the machine is given.

/// One GPU for each rank of the plan, by rank. Nothing is tried out. Throws Error if there are
/// none.
std::vector<int> choose_gpus(const ReplayPlan& plan, const RunFlags& flags,
                             const ReplayMachine& machine);

/// What somebody should know beforehand who runs `ranks` ranks here, one sentence; empty: nothing.
std::string machine_remark(size_t ranks, const ReplayMachine& machine);

// Do the GPUs still answer?
//
//   after a run:  ncclog-replay probe 0   → {"gpu":0,"answers":true,"free_after":149260000000,…}
//
// Each is asked by a process of its own, because a process whose GPU is lost may never return from
// CUDA; it is killed then, and the GPU counts as one that does not answer.

/// All of `gpus` at once, by `program`, which knows `probe GPU`; in their order. `free_before` is
/// left unknown.
std::vector<GpuCheck> probe_gpus(const std::string& program, std::chrono::milliseconds patience,
                                 const std::vector<int>& gpus);

/// The same after a run: asks again for a while if memory is not back, because drivers take it back
/// after a process has ended. `before` is of the same GPUs.
std::vector<GpuCheck> probe_after(const std::string& program, std::chrono::milliseconds patience,
                                  const std::vector<GpuCheck>& before);

/// Memory that did not come back and GPUs that do not answer, a text each. Where GPUs are shared,
/// memory says nothing: others take and give it.
std::vector<std::string> gpu_leftovers(const std::vector<GpuCheck>& checks, bool are_shared);

}  // namespace ncclog
