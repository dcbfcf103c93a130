// Which GPUs does this machine have, and does one of them answer?

#pragma once

#include "replay/exec/gpu_state.h"

namespace ncclog {

/// Asks driver and CUDA without making a context on any GPU. Never throws: what stands in the way
/// is its `problem`.
GpuMachine query_gpus();

/// Fills and compares 16 MiB on that GPU, in a context of this process.
GpuCheck probe_gpu(int gpu);

}  // namespace ncclog
