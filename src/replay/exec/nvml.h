// Who else computes on a GPU, and how much of its memory is free? NVIDIA's management library
// tells without touching the GPU. It comes with the driver and is loaded at run time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ncclog {

/// What the driver says about the use of a GPU.
struct GpuUse {
  int64_t free = -1;               ///< Bytes; -1: unknown.
  std::vector<int64_t> processes;  ///< That compute on it, by pid, this one aside. A container may
                                   ///< hide those of others.
};

/// Of the GPU at that bus id; nullopt: there is no libnvidia-ml.so.1, or it does not tell.
std::optional<GpuUse> ask_gpu_use(const std::string& bus_id);

}  // namespace ncclog
