#include "replay/exec/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ncclog {
namespace {

// Types as nvml.h of CUDA 12 and 13 has them; the names of functions carry their versions.
using Result = int;
using Device = void*;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct ProcessOnGpu {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

constexpr Result kSuccess = 0;

struct Nvml {
  Result (*init)() = nullptr;
  Result (*device_by_bus_id)(const char*, Device*) = nullptr;
  Result (*memory)(Device, Memory*) = nullptr;
  Result (*processes)(Device, unsigned int*, ProcessOnGpu*) = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Nvml> load_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Nvml nvml;
  const bool is_whole = find(library, "nvmlInit_v2", nvml.init) &&
                        find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_bus_id) &&
                        find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
                        find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes);
  if (!is_whole || nvml.init() != kSuccess) return std::nullopt;
  return nvml;
}

std::optional<std::vector<int64_t>> processes_on(const Nvml& nvml, Device device) {
  std::array<ProcessOnGpu, 256> found;
  unsigned int count = found.size();
  if (nvml.processes(device, &count, found.data()) != kSuccess) return std::nullopt;
  std::vector<int64_t> pids;
  for (size_t i = 0; i < std::min<size_t>(count, found.size()); ++i) {
    if (found[i].pid != static_cast<unsigned int>(getpid())) pids.push_back(found[i].pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

}  // namespace

std::optional<GpuUse> ask_gpu_use(const std::string& bus_id) {
  static const std::optional<Nvml> kNvml = load_nvml();
  Device device = nullptr;
  if (!kNvml || kNvml->device_by_bus_id(bus_id.c_str(), &device) != kSuccess) return std::nullopt;
  auto processes = processes_on(*kNvml, device);
  if (!processes) return std::nullopt;
  GpuUse use{.free = -1, .processes = std::move(*processes)};
  Memory memory{};
  if (kNvml->memory(device, &memory) == kSuccess) use.free = static_cast<int64_t>(memory.free);
  return use;
}

}  // namespace ncclog
