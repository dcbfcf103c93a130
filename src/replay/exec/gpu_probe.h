// Do the GPUs still answer?
//
//   after a run:  ncclog-replay probe 0   → {"gpu":0,"answers":true,"free":149260000000,"error":""}
//
// Each is asked by a process of its own, because a process whose GPU is lost may never return from
// CUDA; it is killed then, and the GPU counts as one that does not answer.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "replay/outcome.h"

namespace ncclog {

/// Who asks, and how long is waited.
struct GpuProbe {
  std::string program;  ///< That knows `probe GPU`.
  std::chrono::milliseconds patience{30000};
};

/// All of `gpus` at once; in their order. `free_before` is left unknown.
std::vector<GpuCheck> probe_gpus(const GpuProbe& probe, const std::vector<int>& gpus);

/// The same after a run: asks again for a while if memory is not back, because drivers take it back
/// after a process has ended. `before` is of the same GPUs.
std::vector<GpuCheck> probe_after(const GpuProbe& probe, const std::vector<GpuCheck>& before);

/// Memory that did not come back and GPUs that do not answer, a text each. Where GPUs are shared,
/// memory says nothing: others take and give it.
std::vector<std::string> gpu_leftovers(const std::vector<GpuCheck>& checks, bool are_shared);

}  // namespace ncclog
