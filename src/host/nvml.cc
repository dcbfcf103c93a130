// What NVML says of the driver and its GPUs. The library is loaded when it is asked, so that ncclog
// runs where there is none.
//
//   driver 550.54.15
//   gpu 0 0000:1B:00.0 mig=0 errors=0 links=18/18 fabric=completed NVIDIA H100 80GB HBM3
//   p2p 0 1 CNS
//
// Where there is no /dev/nvidiactl the library is not loaded: to make that file it would start a
// program (nvidia-modprobe).

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.h"
#include "host/host_tree.h"

namespace ncclog {

#ifdef NCCLOG_WITHOUT_DLOPEN

HostAnswer answer_nvml() {
  return access("/dev/nvidiactl", F_OK) != 0
             ? no_answer(ENOENT)
             : HostAnswer{HostAnswer::State::Refused, {}, "a static executable loads no library"};
}

#else

namespace {

// From nvml.h, whose functions and structures keep their names and layouts.

using Device = void*;

struct PciInfo {
  char short_bus_id[16];
  unsigned domain, bus, device, ids, subsystem;
  char bus_id[32];
};

struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};

/// A function of the library; a call of one that it lacks fails.
template <typename... Parameters>
struct Function {
  int (*call)(Parameters...) = nullptr;

  Function(void* library, const char* name)
      : call(reinterpret_cast<int (*)(Parameters...)>(dlsym(library, name))) {}
  bool operator()(Parameters... parameters) const {
    return call != nullptr && call(parameters...) == 0;
  }
};

struct Nvml {
  void* library;
  Function<> init{library, "nvmlInit_v2"};
  Function<> shutdown{library, "nvmlShutdown"};
  Function<char*, unsigned> driver{library, "nvmlSystemGetDriverVersion"};
  Function<unsigned*> count{library, "nvmlDeviceGetCount_v2"};
  Function<unsigned, Device*> device{library, "nvmlDeviceGetHandleByIndex_v2"};
  Function<Device, char*, unsigned> name{library, "nvmlDeviceGetName"};
  Function<Device, PciInfo*> pci{library, "nvmlDeviceGetPciInfo_v3"};
  Function<Device, unsigned*, unsigned*> mig{library, "nvmlDeviceGetMigMode"};
  Function<Device, int, int, unsigned long long*> errors{library, "nvmlDeviceGetTotalEccErrors"};
  Function<Device, unsigned, int*> link{library, "nvmlDeviceGetNvLinkState"};
  Function<Device, FabricInfo*> fabric{library, "nvmlDeviceGetGpuFabricInfo"};
  Function<Device, Device, int, int*> p2p{library, "nvmlDeviceGetP2PStatus"};
};

constexpr size_t kTextBytes = 96;

std::string gpu_line(const Nvml& nvml, unsigned number, Device device) {
  constexpr unsigned kMostLinks = 32;
  PciInfo pci = {};
  char name[kTextBytes] = "";
  nvml.pci(device, &pci);
  nvml.name(device, name, kTextBytes - 1);
  std::string line = fmt::format("gpu {} {}", number, std::string(pci.bus_id));
  unsigned mig = 0;
  unsigned pending = 0;
  if (nvml.mig(device, &mig, &pending)) line += fmt::format(" mig={}", mig);
  unsigned long long errors = 0;
  constexpr int kUncorrected = 1;
  constexpr int kSinceLoaded = 0;
  if (nvml.errors(device, kUncorrected, kSinceLoaded, &errors)) {
    line += fmt::format(" errors={}", errors);
  }
  unsigned links = 0;
  unsigned active = 0;
  for (unsigned i = 0; i < kMostLinks; ++i) {
    int is_active = 0;
    if (!nvml.link(device, i, &is_active)) continue;
    ++links;
    active += is_active != 0 ? 1 : 0;
  }
  if (links > 0) line += fmt::format(" links={}/{}", active, links);
  FabricInfo fabric = {};
  constexpr std::array<const char*, 4> kStates = {"", "not-started", "in-progress", "completed"};
  if (nvml.fabric(device, &fabric) && fabric.state > 0 && fabric.state < kStates.size()) {
    line += fmt::format(" fabric={}", kStates[fabric.state]);
  }
  return line + " " + name;
}

std::vector<std::string> read_nvml(const Nvml& nvml) {
  constexpr unsigned kMostGpus = 64;
  std::vector<std::string> lines;
  char driver[kTextBytes] = "";
  if (nvml.driver(driver, kTextBytes - 1))
    lines.push_back(fmt::format("driver {}", std::string(driver)));
  unsigned count = 0;
  nvml.count(&count);
  std::vector<Device> devices;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Device device = nullptr;
    if (!nvml.device(i, &device)) continue;
    devices.push_back(device);
    lines.push_back(gpu_line(nvml, i, device));
  }
  constexpr std::array<const char*, 7> kStatus = {"OK", "CNS", "GNS", "TNS", "DR", "NS", "U"};
  constexpr int kRead = 0;
  for (size_t a = 0; a < devices.size(); ++a) {
    for (size_t b = a + 1; b < devices.size(); ++b) {
      int status = 0;
      if (!nvml.p2p(devices[a], devices[b], kRead, &status) || status <= 0) continue;
      if (status < static_cast<int>(kStatus.size())) {
        lines.push_back(fmt::format("p2p {} {} {}", a, b, kStatus[status]));
      }
    }
  }
  return lines;
}

}  // namespace

HostAnswer answer_nvml() {
  if (access("/dev/nvidiactl", F_OK) != 0) return no_answer(ENOENT);
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return {HostAnswer::State::Refused, {}, "libnvidia-ml.so.1 cannot be loaded"};
  }
  // Never unloaded: the library starts what ends with the process.
  const Nvml nvml{library};
  if (!nvml.init()) return {HostAnswer::State::Refused, {}, "NVML does not start"};
  HostAnswer answer{HostAnswer::State::Here, join(read_nvml(nvml), "\n"), {}};
  nvml.shutdown();
  return answer;
}

#endif

}  // namespace ncclog
