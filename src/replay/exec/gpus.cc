#include "replay/exec/gpus.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/letters.h"
#include "replay/exec/check.h"
#include "replay/exec/gpu_memory.h"
#include "replay/exec/kernels.h"
#include "replay/exec/nvml.h"

namespace ncclog {
namespace {

constexpr int64_t kProbedElements = 4 << 20;  // Of four bytes.

/// "13.0" of 13000; empty for 0, which means none.
std::string version_text(int version) {
  if (version <= 0) return {};
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

bool has_driver() { return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr; }

std::string bus_id_of(int gpu) {
  char text[32] = "";
  if (cudaDeviceGetPCIBusId(text, sizeof text, gpu) != cudaSuccess) return {};
  return lower_case(text);
}

GpuState state_of(int gpu) {
  GpuState state{.gpu = {.gpu = gpu, .name = "", .bus_id = bus_id_of(gpu), .memory = 0}};
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, gpu) == cudaSuccess) {
    state.gpu.name = properties.name;
    state.gpu.memory = static_cast<int64_t>(properties.totalGlobalMem);
  }
  if (auto use = ask_gpu_use(state.gpu.bus_id)) {
    state.free = use->free;
    state.processes = std::move(use->processes);
  }
  return state;
}

/// Throws Error if the GPU does not do what it has to.
void exercise(int gpu, GpuCheck& check_of_gpu) {
  check(cudaSetDevice(gpu), {"cudaSetDevice"});
  size_t free = 0;
  size_t total = 0;
  check(cudaMemGetInfo(&free, &total), {"cudaMemGetInfo"});
  check_of_gpu.free_after = static_cast<int64_t>(free);
  const DataPattern pattern{.key = 1, .datatype = 3, .source = 0};
  const GpuMemory buffer(kProbedElements * element_bytes(pattern.datatype), -1);
  const GpuMemory place(sizeof(ComparedElements), -1);
  ComparedElements result;
  check(cudaMemcpy(place.at(0), &result, sizeof result, cudaMemcpyHostToDevice), {"cudaMemcpy"});
  auto* compared = reinterpret_cast<ComparedElements*>(place.at(0));
  check(launch_fill(pattern, buffer.at(0), kProbedElements, nullptr), {"launch of fill"});
  check(launch_compare(pattern, buffer.at(0), kProbedElements, compared, nullptr),
        {"launch of compare"});
  check(cudaMemcpy(&result, compared, sizeof result, cudaMemcpyDeviceToHost), {"cudaMemcpy"});
  if (result.wrong > 0) {
    throw Error(fmt::format("{} of {} elements in its memory are wrong, the first at {}",
                            result.wrong, kProbedElements, result.first));
  }
}

}  // namespace

GpuMachine query_gpus() {
  GpuMachine machine;
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) machine.runtime = version_text(version);
  if (!has_driver()) {
    machine.problem =
        "no NVIDIA driver: libcuda.so.1 was not found; a replay needs a machine with NVIDIA GPUs";
    return machine;
  }
  if (cudaDriverGetVersion(&version) == cudaSuccess) machine.driver = version_text(version);
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess || count == 0) {
    machine.problem = fmt::format("no GPU can be used: {}", cudaGetErrorString(counted));
    return machine;
  }
  for (int gpu = 0; gpu < count; ++gpu) machine.gpus.push_back(state_of(gpu));
  return machine;
}

GpuCheck probe_gpu(int gpu) {
  GpuCheck result{.gpu = gpu, .answers = false};
  try {
    exercise(gpu, result);
    result.answers = true;
  } catch (const std::exception& error) {
    result.error = error.what();
  }
  return result;
}

}  // namespace ncclog
