#include "replay/run/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "log/nccl_names.h"
#include "replay/run/gpus.h"
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

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "the loader does not say why" : text;
}

void* open_library(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  throw Error("NCCL could not be loaded: " + loader_error(), "",
              fmt::format("name its library with --nccl or {}; PyTorch's lies in "
                          "site-packages/nvidia/nccl/lib/libnccl.so.2",
                          kVariable));
}

/// Takes the functions out of the library; those that it lacks and that are needed throw.
class FunctionFinder {
 public:
  FunctionFinder(void* handle, const std::string& name) : handle_(handle), name_(name) {}

  template <typename Function>
  void operator()(const char* function, Function& found, const char* since, bool is_needed) const {
    found = reinterpret_cast<Function>(dlsym(handle_, function));
    if (found != nullptr || !is_needed) return;
    throw Error(fmt::format("{} has no {}, which came with NCCL {}", name_, function, since), "",
                "name a later release with --nccl");
  }

 private:
  void* handle_;
  const std::string& name_;
};

std::string path_of_function(void* function, const std::string& otherwise) {
  Dl_info place{};
  if (dladdr(function, &place) == 0 || place.dli_fname == nullptr) return otherwise;
  return place.dli_fname;
}

/// "2.28.9" of 22809, as ncclGetVersion gives it; up to 2.8 it is 2809.
std::string nccl_version_text(int version) {
  const int step = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / step, version % step / 100, version % 100);
}

}  // namespace

NcclLibrary load_nccl(const std::string& library) {
  const std::string name = wanted_library(library);
  void* handle = open_library(name);
  NcclLibrary nccl;
  NcclLibrary::each_function(nccl, FunctionFinder(handle, name));
  nccl.path = path_of_function(reinterpret_cast<void*>(nccl.get_version), name);
  int version = 0;
  if (nccl.get_version(&version) == ncclSuccess) nccl.version = nccl_version_text(version);
  return nccl;
}

namespace {

// What went wrong with a call.

std::string site_text(const CallSite& site) {
  std::string text;
  if (site.rank >= 0) text += fmt::format("rank {}: ", site.rank);
  text += site.function;
  if (site.communicator >= 0) text += fmt::format(" on communicator {}", site.communicator);
  if (site.call >= 0) text += fmt::format(" (call {})", site.call);
  return text;
}

std::string last_error(const NcclLibrary& nccl, ncclComm_t comm) {
  const char* text = nccl.get_last_error(comm);
  return text == nullptr || *text == '\0' ? "" : "; " + printable(text);
}

}  // namespace

void check(cudaError_t result, const CallSite& site) {
  if (result == cudaSuccess) return;
  throw Error(fmt::format("{}: {}, {}", site_text(site), cudaGetErrorName(result),
                          cudaGetErrorString(result)));
}

void check(ncclResult_t result, const CallSite& site, const NcclLibrary& nccl, ncclComm_t comm) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw Error(fmt::format("{}: {}, {}{}", site_text(site), result_name(result),
                          nccl.get_error_string(result), last_error(nccl, comm)));
}

// What is given back late, while the process ends, may fail and nobody is left to tell.

GpuMemory::GpuMemory(int64_t bytes, int rank) {
  void* address = nullptr;
  check(cudaMalloc(&address, static_cast<size_t>(std::max<int64_t>(bytes, 256))),
        {"cudaMalloc of " + std::to_string(bytes) + " bytes", rank});
  address_ = static_cast<char*>(address);
}

GpuMemory::~GpuMemory() {
  if (address_ != nullptr) (void)cudaFree(address_);
}

GpuStream::GpuStream(int rank) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
        {"cudaStreamCreateWithFlags", rank});
}

GpuStream::~GpuStream() {
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

GpuEvent::GpuEvent(int rank, bool takes_time) : rank_(rank) {
  check(cudaEventCreateWithFlags(&event_, takes_time ? cudaEventDefault : cudaEventDisableTiming),
        {"cudaEventCreateWithFlags", rank});
}

GpuEvent::~GpuEvent() {
  if (event_ != nullptr) (void)cudaEventDestroy(event_);
}

void GpuEvent::record(cudaStream_t stream) {
  check(cudaEventRecord(event_, stream), {"cudaEventRecord", rank_});
}

bool GpuEvent::is_reached() const {
  const cudaError_t result = cudaEventQuery(event_);
  if (result == cudaErrorNotReady) {
    (void)cudaGetLastError();  // Else the next launch would be told of it.
    return false;
  }
  check(result, {"cudaEventQuery", rank_});
  return true;
}

double GpuEvent::microseconds_since(const GpuEvent& start) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.event_, event_), {"cudaEventElapsedTime", rank_});
  return milliseconds * 1e3;
}

namespace {

// Who else computes on a GPU, and how much of its memory is free? NVIDIA's management library
// tells without touching the GPU. It comes with the driver and is loaded at run time.

/// What the driver says about the use of a GPU.
struct GpuUse {
  int64_t free = -1;               ///< Bytes; -1: unknown.
  std::vector<int64_t> processes;  ///< That compute on it, by pid, this one aside. A container may
                                   ///< hide those of others.
};

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
  std::ranges::sort(pids);
  return pids;
}

/// Of the GPU at that bus id; nullopt: there is no libnvidia-ml.so.1, or it does not tell.
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

constexpr int64_t kProbedElements = 4 << 20;  // Of four bytes.

// The GPUs.

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

namespace {

void find_nccl(const std::string& library, ReplayMachine& machine) {
  try {
    const NcclLibrary nccl = load_nccl(library);
    machine.nccl_version = nccl.version;
    machine.nccl_library = nccl.path;
  } catch (const Error& error) {
    machine.nccl_problem = error.what();
  }
}

}  // namespace

ReplayMachine query_machine(const std::string& library) {
  ReplayMachine machine;
  machine.gpus = query_gpus();
  machine.shared_memory = free_bytes();
  find_nccl(library, machine);
  return machine;
}

}  // namespace ncclog
