// CUDA, driver and memory failures, and NVLink SHARP.
//
//   Cuda failure 2 'out of memory'
//   transport/p2p.cc:221 Cuda failure 'peer access is not supported between these two devices'
//
// A CUDA error may be that of an application kernel: it sticks to the context and the first call
// that looks reports it.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A checked CUDA call returned an error (checks.h, cudawrap.h).
struct CudaFailure {
  int code = -1;  ///< CUresult or cudaError_t; -1 if not printed.
  std::string_view error;

  static constexpr std::string_view kKind = "cuda_failure";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A CUDA call failed, for the reason quoted. At work a kernel of the application often failed "
      "before; in an initialisation look at driver, container and the GPUs that are visible."};
  static constexpr Wording kWordings[] = {
      {.text = "Cuda failure '{error}'",
       .example = "Cuda failure 'out of memory'",
       .quotable = true},
      {.text = "Cuda failure {code} '{error}'",
       .example = "Cuda failure 2 'out of memory'",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("code", self.code);
    visit("error", self.error);
  }
};

/// A CUDA call failed where NCCL can go on without it (checks.h, 2.9.6 and later).
struct CudaFailureIgnored {
  std::string_view file;
  int line = -1;
  int code = -1;  ///< -1 if not printed.
  std::string_view error;

  static constexpr std::string_view kKind = "cuda_failure_ignored";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{file:word}:{line} Cuda failure '{error}'",
       .example = "init.cc:2026 Cuda failure 'driver shutting down'"},
      {.text = "{file:word}:{line} Cuda failure {code} '{error}'",
       .example = "misc/cudawrap.cc:36 Cuda failure 1 'invalid argument'"},
      {.text = "{file:word}:{line} ({:word}) Cuda failure '{error}'",
       .example = "init.cc:2026 (commFree) Cuda failure 'driver shutting down'"},
      {.text = "{file:word}:{line} ({:word}) Cuda failure {code} '{error}'",
       .example = "misc/cudawrap.cc:36 (ncclCuMemEnable) Cuda failure 1 'invalid argument'"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("file", self.file);
    visit("line", self.line);
    visit("code", self.code);
    visit("error", self.error);
  }
};

/// Memory could not be had (alloc.h, 2.14.3 and later; host memory in all releases).
struct CudaAllocFailed {
  /// "malloc", "calloc", "calloc async", "host alloc" on the GPU side; "malloc" of the host.
  std::string_view what;
  int64_t bytes = -1;

  static constexpr std::string_view kKind = "cuda_alloc_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Memory could not be had, on the GPU where the text says CUDA, else on the host. Leave more "
      "of it to NCCL, or lower NCCL_BUFFSIZE and the number of communicators."};
  static constexpr Warning kAborts{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The host ran out of memory where NCCL cannot return an error, so the process aborts."};
  static constexpr Wording kWordings[] = {
      {.text = "Failed to CUDA {what:malloc|calloc|calloc async|host alloc} {bytes} bytes",
       .example = "Failed to CUDA calloc async 16777216 bytes",
       .quotable = true},
      {.text = "Failed to {what:malloc} {bytes} bytes",
       .example = "Failed to malloc 4096 bytes",
       .quotable = true},
      {.text = "{what:malloc} of {bytes} bytes failed",
       .example = "malloc of 4096 bytes failed",
       .quotable = true},
      {.text = "Unrecoverable error detected: {what:malloc}(size={bytes}) returned null.",
       .example = "Unrecoverable error detected: malloc(size=65536) returned null.",
       .quotable = true,
       .warning = kAborts},
      {.text = "{:word}:{:int} Unrecoverable error detected: {what:malloc}(size={bytes}) returned "
               "null.",
       .example =
           "misc/utils.cc:234 Unrecoverable error detected: malloc(size=65536) returned null.",
       .quotable = true,
       .warning = kAborts},
      {.text = "Allocation failed", .example = "Allocation failed", .quotable = true},
      {.text = "Allocation failed at {...}",
       .example = "Allocation failed at init.cc:512",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("bytes", self.bytes);
  }
};

/// The GPU refused to bind multicast memory (transport/nvls.cc, 2.27.3 and later): the fabric
/// manager does not run, does not match the driver, or an NVSwitch has an error.
struct NvlsBindFailed {
  int64_t size = -1;  ///< Bytes.
  int code = -1;      ///< CUresult.
  std::string_view error;

  static constexpr std::string_view kKind = "nvls_bind_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The GPU refused multicast memory for NVLink SHARP. Check that nvidia-fabricmanager runs and "
      "fits the driver, and the NVSwitches; NCCL_NVLS_ENABLE=0 avoids it."};
  static constexpr Wording kWordings[] = {
      {.text = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size {size} : CUDA error "
               "{code} '{error}'. {...}",
       .example = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA "
                  "error 401 'the operation cannot be performed in the present state'. Proceeding "
                  "without NVLS support.",
       .quotable = true,
       .warning = kNeverWarned},
      {.text = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size {size} : CUDA error "
               "{code} '{error}'.",
       .example = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA "
                  "error 401 'the operation cannot be performed in the present state'.",
       .quotable = true},
      {.text = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size {size} : CUDA error "
               "{code} '{error}'",
       .example = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA "
                  "error 401 'the operation cannot be performed in the present state'",
       .quotable = true},
      {.text = "Failed to multicast-bind user buffer: CUDA error {code} '{error}'",
       .example = "Failed to multicast-bind user buffer: CUDA error 1 'invalid argument'",
       .warning = kNeverWarned},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("code", self.code);
    visit("error", self.error);
  }
};

/// The second and third line of nvls_bind_failed; they carry no header.
struct NvlsBindHint {
  std::string_view text;

  static constexpr std::string_view kKind = "nvls_bind_hint";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "This is usually caused by {text:a system or configuration error in the Fabric "
               "Manager or NVSwitches}.",
       .example = "This is usually caused by a system or configuration error in the Fabric Manager "
                  "or NVSwitches.",
       .quotable = true},
      {.text = "{text:Disable NVLS|Do not force-enable NVLS} (NCCL_NVLS_ENABLE={:int}) if you wish "
               "to avoid this error in the future.",
       .example =
           "Disable NVLS (NCCL_NVLS_ENABLE=0) if you wish to avoid this error in the future.",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Whether NVLink SHARP can be used (transport/nvls.cc, 2.17.1 and later).
struct NvlsSupport {
  std::string_view state;  ///< "available" or "not available".
  int dev = -1;            ///< CUDA device.

  static constexpr std::string_view kKind = "nvls_support";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS multicast support is {state:available|not available} on dev {dev}",
       .example = "NVLS multicast support is not available on dev 2"},
      {.text = "NVLS multicast support is {state:available|not available} on dev {dev} "
               "(NVLS_NCHANNELS {:int})",
       .example = "NVLS multicast support is available on dev 2 (NVLS_NCHANNELS 16)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("dev", self.dev);
  }
};

/// NVLink over several nodes is there but does not work (mnnvl.cc, 2.20.3 and later): IMEX is
/// down or its channels are not in the container.
struct MnnvlFailed {
  int clique_size = -1;  ///< -1 if not printed.

  static constexpr std::string_view kKind = "mnnvl_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NVLink across nodes is there but does not work, usually because of IMEX. Check nvidia-imex "
      "on all nodes and /dev/nvidia-caps-imex-channels in the container."};
  static constexpr Wording kWordings[] = {
      {.text = "MNNVL (cliqueSize {clique_size}) is available but not {...}",
       .example =
           "MNNVL (cliqueSize 18) is available but not working on this system. Check the IMEX "
           "configuration (nvidia-imex-ctl -N). Set NCCL_MNNVL_ENABLE=0 to ignore this issue.",
       .quotable = true},
      {.text = "MNNVL is not supported on this system",
       .example = "MNNVL is not supported on this system",
       .quotable = true,
       .warning =
           {WarnSeverity::Fatal, WarnOrigin::User,
            "NCCL_MNNVL_ENABLE=1 asks for NVLink across nodes, which this system does not have."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("clique_size", self.clique_size); }
};

/// A call to the driver's management library failed (misc/nvmlwrap.cc). Several are probes that
/// are allowed to.
struct NvmlFailed {
  std::string_view call;  ///< "nvmlInit_v2".
  std::string_view error;

  static constexpr std::string_view kKind = "nvml_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A call to NVML failed: driver and library do not match, MIG is on, or the driver is not in "
      "the container. Run nvidia-smi there."};
  static constexpr Wording kWordings[] = {
      {.text =
           "{call:nvmlInit|nvmlInit_v2|nvmlShutdown|nvmlDeviceGetCount|nvmlDeviceGetCount_v2|"
           "nvmlDeviceGetIndex|nvmlDeviceGetMinorNumber|nvmlDeviceGetHandleByIndex|"
           "nvmlDeviceGetHandleByPciBusId|nvmlDeviceGetCudaComputeCapability|"
           "nvmlDeviceGetCurrPcieLinkGeneration|nvmlDeviceGetCurrPcieLinkWidth|"
           "nvmlDeviceGetPcieLinkMaxSpeed|nvmlDeviceGetP2PStatus|nvmlDeviceGetPciInfo|"
           "nvmlDeviceGetPciInfoExt|nvmlDeviceGetPciInfo_v3|nvmlDeviceGetFieldValues|"
           "nvmlDeviceGetGpuFabricInfoV|nvmlDeviceGetNvLinkCapability|"
           "nvmlDeviceGetNvLinkRemotePciInfo|nvmlDeviceGetNvLinkState|nvmlDeviceGetPlatformInfo|"
           "nvmlSystemGetConfComputeSettings|nvmlSystemGetConfComputeState}({}) failed: {error...}",
       .example = "nvmlInit_v2() failed: Driver/library version mismatch",
       .quotable = true},
      {.text = "{call:nvmlDeviceGetCount}() reported more devices {error...}",
       .example = "nvmlDeviceGetCount() reported more devices (40) than the internal maximum "
                  "(ncclNvmlMaxDevices=32)",
       .quotable = true},
      {.text = "NVML failure '{error}'",
       .example = "NVML failure 'Unknown Error'",
       .quotable = true},
      {.text = "Failed to open {call:libnvidia-ml.so.1}: {error...}",
       .example = "Failed to open libnvidia-ml.so.1: cannot open shared object file",
       .quotable = true},
      {.text = "Failed to open {call:libnvidia-ml.so.1}",
       .example = "Failed to open libnvidia-ml.so.1",
       .quotable = true},
      {.text = "Loaded NVML from {call...}",
       .example = "Loaded NVML from libnvidia-ml.so.1",
       .warning = kNeverWarned},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("call", self.call);
    visit("error", self.error);
  }
};

/// An entry point of the driver is missing (misc/cudawrap.cc, 2.13.4 and later); often
/// harmless.
struct CudaLibraryFailed {
  std::string_view symbol;
  std::string_view error;

  static constexpr std::string_view kKind = "cuda_library_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "An entry point of the CUDA driver is missing, because the driver is older than NCCL's "
      "build. Often harmless: NCCL goes without the feature behind it."};
  static constexpr Warning kNoDriver{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The CUDA driver library could not be loaded or asked, so CUDA calls fail later. Mount the "
      "driver's libraries into the container."};
  static constexpr Wording kWordings[] = {
      {.text = "Retrieve {symbol:word} failed with {error...}",
       .example = "Retrieve cuMulticastCreate failed with 500"},
      {.text = "Retrieve {symbol:word} version {:int} failed with {error...}",
       .example = "Retrieve cuMulticastCreate version 12010 failed with 500"},
      {.text = "Failed to load CUDA missing symbol {symbol...}",
       .example = "Failed to load CUDA missing symbol cuDriverGetVersion",
       .warning = kNoDriver},
      {.text = "Failed to find CUDA library {symbol...}",
       .example = "Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='') : cannot open shared "
                  "object file",
       .warning = kNoDriver},
      {.text = "ncclOsDlopen({symbol}) failed: {error...}",
       .example = "ncclOsDlopen(libcuda.so.1) failed: cannot open shared object file",
       .warning = kNeverWarned},
      {.text = "ncclOsDlsym({symbol}) failed: {error...}",
       .example = "ncclOsDlsym(cuInit) failed: undefined symbol",
       .warning = kNeverWarned},
      {.text = "{symbol:cuDriverGetVersion} failed with {error:int}",
       .example = "cuDriverGetVersion failed with 999",
       .warning = kNoDriver},
      {.text = "CUDA some PFN functions not found in the library",
       .example = "CUDA some PFN functions not found in the library"},
      {.text =
           "{symbol:CUMEM not supported|CUMEM Host is not supported} prior to CUDA {error:word}",
       .example = "CUMEM not supported prior to CUDA 11.3",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "This NCCL was built with a CUDA too old for the memory interface that a "
                   "setting asks for. Set NCCL_CUMEM_ENABLE=0 or NCCL_CUMEM_HOST_ENABLE=0."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("symbol", self.symbol);
    visit("error", self.error);
  }
};

/// CUDA peer access or a memory handle between processes was refused (transport/p2p.cc,
/// transport/net.cc).
struct IpcFailed {
  std::string_view text;
  std::string_view error;

  static constexpr std::string_view kKind = "ipc_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::P2p;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A GPU buffer could not be shared with another process or GPU. Check IOMMU and ACS, process "
      "isolation, MIG, and memory that legacy IPC cannot export."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:failed to peer with device} {:word}: {error...}",
       .example = "failed to peer with device 3(=a1000): 217 peer access is not supported between "
                  "these two devices",
       .quotable = true},
      {.text = "{text:cudaIpcGetMemHandle|hipIpcGetMemHandle|cudaIpcOpenMemHandle|"
               "hipIpcOpenMemHandle} failed : {error...}",
       .example = "cudaIpcGetMemHandle failed : invalid argument",
       .quotable = true},
      {.text = "{text:failed to open CUDA IPC handle} : {error...}",
       .example = "failed to open CUDA IPC handle : 30 unknown error",
       .quotable = true},
      {.text = "rank {:int} {text:failed to get CUDA IPC handle} to device {error...}",
       .example = "rank 3 failed to get CUDA IPC handle to device 3(=a1000) : 1 invalid argument",
       .quotable = true},
      {.text = "[Rem Allocator] {text...}",
       .example = "[Rem Allocator] cudaIpcGetMemHandle failed : invalid argument",
       .quotable = true,
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "The thread of NCCL 2.8 to 2.11 that allocates GPU memory for other ranks "
                   "failed. The text names the step; look at CUDA errors."}},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("text", self.text);
    visit("error", self.error);
  }
};

using CudaMessages =
    Kinds<CudaFailure, CudaFailureIgnored, CudaAllocFailed, NvlsBindFailed, NvlsBindHint,
          NvlsSupport, MnnvlFailed, NvmlFailed, CudaLibraryFailed, IpcFailed>;

}  // namespace ncclog
