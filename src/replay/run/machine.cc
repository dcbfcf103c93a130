#include "replay/run/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "replay/run/kernels.h"

namespace ncclog {
namespace {

constexpr const char* kVariable = "NCCLOG_NCCL";
constexpr const char* kUsualName = "libnccl.so.2";

std::string wanted_library(const std::string& library) {
  if (!library.empty()) return library;
  const char* named = std::getenv(kVariable);
  return named != nullptr && *named != '\0' ? named : kUsualName;
}

void* open_library(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* why = dlerror();
  throw Error(fmt::format("NCCL could not be loaded: {}",
                          why == nullptr ? "the loader does not say why" : why),
              "",
              fmt::format("name its library with --nccl or {}; PyTorch's lies in "
                          "site-packages/nvidia/nccl/lib/libnccl.so.2",
                          kVariable));
}

// What went wrong with a call.

std::string site_text(const CallSite& site) {
  std::string text;
  if (site.rank >= 0) text += fmt::format("rank {}: ", site.rank);
  text += site.function;
  if (site.communicator >= 0) text += fmt::format(" on communicator {}", site.communicator);
  if (site.call >= 0) text += fmt::format(" (call {})", site.call);
  return text;
}

// Who else computes on a GPU, and how much of its memory is free? NVIDIA's management library
// tells without touching the GPU. It comes with the driver and is loaded at run time.

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

/// Fills in who else computes on the GPU, and how much of its memory is free, unless there is no
/// libnvidia-ml.so.1, or it does not tell. A container may hide the processes of others.
void ask_use(GpuState& state) {
  static void* const kLibrary = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  // nullptr: there is no function of that name, or no library.
  const auto find = [](const char* name) {
    return LoadedFunction{kLibrary == nullptr ? nullptr : dlsym(kLibrary, name)};
  };
  static Result (*const kInit)() = find("nvmlInit_v2");
  static Result (*const kDeviceByBusId)(const char*, Device*) =
      find("nvmlDeviceGetHandleByPciBusId_v2");
  static Result (*const kProcesses)(Device, unsigned int*, ProcessOnGpu*) =
      find("nvmlDeviceGetComputeRunningProcesses_v3");
  static Result (*const kMemory)(Device, Memory*) = find("nvmlDeviceGetMemoryInfo");
  static const bool kIsReady =
      kInit && kDeviceByBusId && kProcesses && kMemory && kInit() == kSuccess;
  Device device = nullptr;
  if (!kIsReady) return;
  if (kDeviceByBusId(state.gpu.bus_id.c_str(), &device) != kSuccess) return;
  std::array<ProcessOnGpu, 256> found;
  unsigned int count = found.size();
  if (kProcesses(device, &count, found.data()) != kSuccess) return;
  std::vector<int64_t>& pids = state.processes.emplace();
  for (size_t i = 0; i < std::min<size_t>(count, found.size()); ++i) {
    if (found[i].pid != static_cast<unsigned int>(getpid())) pids.push_back(found[i].pid);
  }
  std::ranges::sort(pids);
  Memory memory{};
  if (kMemory(device, &memory) == kSuccess) state.free = static_cast<int64_t>(memory.free);
}

constexpr int64_t kProbedElements = 4 << 20;  // Of four bytes.

// The GPUs.

/// "13.0" of 13000; empty for 0, which means none.
std::string version_text(int version) {
  if (version <= 0) return {};
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

GpuState gpu_state(int gpu) {
  GpuState state{.gpu = {.gpu = gpu}};
  char bus_id[32] = "";
  if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, gpu) == cudaSuccess) {
    state.gpu.bus_id = lower_case(bus_id);
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, gpu) == cudaSuccess) {
    state.gpu.name = properties.name;
    state.gpu.memory = static_cast<int64_t>(properties.totalGlobalMem);
  }
  ask_use(state);
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

NcclLibrary::NcclLibrary(const std::string& library)
    : path(wanted_library(library)), handle(open_library(path)) {
  Dl_info place{};
  if (dladdr(reinterpret_cast<void*>(get_version), &place) != 0 && place.dli_fname != nullptr) {
    path = place.dli_fname;
  }
  int number = 0;
  if (get_version(&number) != ncclSuccess) return;
  // "2.28.9" is 22809; up to 2.8 it is 2809.
  const int step = number < 10000 ? 1000 : 10000;
  version = fmt::format("{}.{}.{}", number / step, number % step / 100, number % 100);
}

LoadedFunction NcclLibrary::find(const char* function) const { return {dlsym(handle, function)}; }

LoadedFunction NcclLibrary::need(const char* function, std::string_view since) const {
  const LoadedFunction found = find(function);
  if (found.address != nullptr) return found;
  throw Error(fmt::format("{} has no {}, which came with NCCL {}", path, function, since), "",
              "name a later release with --nccl");
}

LoadedFunction NcclLibrary::find(Operation operation) const {
  const OperationTraits& traits = traits_of(operation);
  const std::string function = fmt::format("nccl{}", traits.name);
  const bool has_stand_in = traits.is_collective() && !traits.has_kernel();
  return has_stand_in ? find(function.c_str()) : need(function.c_str(), traits.since);
}

void check(cudaError_t result, const CallSite& site) {
  if (result == cudaSuccess) return;
  throw Error(fmt::format("{}: {}, {}", site_text(site), cudaGetErrorName(result),
                          cudaGetErrorString(result)));
}

void check(ncclResult_t result, const CallSite& site, const NcclLibrary& nccl, ncclComm_t comm) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  const char* last = nccl.get_last_error(comm);
  const bool has_last = last != nullptr && *last != '\0';
  throw Error(fmt::format("{}: {}, {}{}", site_text(site), result_name(result),
                          nccl.get_error_string(result), has_last ? "; " + printable(last) : ""));
}

GpuMemory::GpuMemory(int64_t bytes, int rank) {
  void* address = nullptr;
  check(cudaMalloc(&address, static_cast<size_t>(std::max<int64_t>(bytes, 256))),
        {"cudaMalloc of " + std::to_string(bytes) + " bytes", rank});
  address_.reset(static_cast<char*>(address));
}

GpuStream make_stream(int rank) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
        {"cudaStreamCreateWithFlags", rank});
  return GpuStream(stream);
}

GpuEvent::GpuEvent(int rank, bool takes_time) : rank_(rank) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, takes_time ? cudaEventDefault : cudaEventDisableTiming),
        {"cudaEventCreateWithFlags", rank});
  event_.reset(event);
}

void GpuEvent::record(cudaStream_t stream) {
  check(cudaEventRecord(event_.get(), stream), {"cudaEventRecord", rank_});
}

bool GpuEvent::is_reached() const {
  const cudaError_t result = cudaEventQuery(event_.get());
  if (result == cudaErrorNotReady) {
    (void)cudaGetLastError();  // Else the next launch would be told of it.
    return false;
  }
  check(result, {"cudaEventQuery", rank_});
  return true;
}

double GpuEvent::microseconds_since(const GpuEvent& start) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.event_.get(), event_.get()),
        {"cudaEventElapsedTime", rank_});
  return milliseconds * 1e3;
}

ReplayMachine query_gpus() {
  ReplayMachine machine;
  int version = 0;
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) machine.runtime = version_text(version);
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
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
  for (int gpu = 0; gpu < count; ++gpu) machine.gpus.push_back(gpu_state(gpu));
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

ReplayMachine query_machine(const std::string& library) {
  ReplayMachine machine = query_gpus();
  machine.shared_memory = free_bytes();
  try {
    const NcclLibrary nccl(library);
    machine.nccl_version = nccl.version;
    machine.nccl_library = nccl.path;
  } catch (const Error& error) {
    machine.nccl_problem = error.what();
  }
  return machine;
}

}  // namespace ncclog
