// The Windows build (os/windows*.cc, 2.29.2 and later): its own system calls.
//
//   WSAStartup failed with error: 10091

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Sockets of the Windows build (os/windows*.cc, 2.29.2 and later).
struct WindowsSocketFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_socket_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::System,
                                    "A network call of the Windows build failed; the number is a "
                                    "Windows Sockets error. Check adapters, firewall and limits."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Failed to allocate memory for adapter addresses}",
       .example = "Failed to allocate memory for adapter addresses"},
      {.text =
           "{text:Failed to close socket:|Failed to create socket pair: WSA error|Failed to "
           "recv:|Failed to send:|GetAdaptersAddresses failed with error:|WSAStartup failed with "
           "error:|ncclOsSocketProgressOpt: ioctlsocket failed with error:|ncclOsSocketResetFd: "
           "socket() failed with error|ncclOsSocketSetFlags: ioctlsocket failed with error:} {...}",
       .example = "Failed to close socket: 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Named pipes between ranks of a Windows host (os/windows_ipcsocket.cc, 2.30.3 and later).
struct WindowsIpcFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_ipc_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::P2p;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Ranks of this Windows host could not exchange memory handles through a named pipe. Look for "
      "a rank that died, and at the error number."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:IPC: Invalid socket handle|IPC: Operation aborted|IPC: Pipe name too long}",
       .example = "IPC: Invalid socket handle"},
      {.text =
           "{text:IPC: DuplicateHandle failed: error|IPC: Failed to connect named pipe: error|IPC: "
           "Failed to connect to pipe|IPC: Failed to create named pipe|IPC: ReadFile failed: "
           "error|IPC: SetNamedPipeHandleState failed: error|IPC: WriteFile failed: error} {...}",
       .example = "IPC: DuplicateHandle failed: error 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Shared memory of the Windows build (os/windows.cc, 2.30.3 and later).
struct WindowsSharedMemoryFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_shared_memory_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Shm;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "Shared memory between ranks could not be made, opened or released on Windows. Check free "
      "memory, and that the ranks run in one session."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:CloseHandle for shared memory|SHM legacy: cudaHostUnregister after setup "
               "failure failed:|SHM legacy: failed to restore CUDA stream capture "
               "mode:|UnmapViewOfFile of shared memory} {...}",
       .example = "CloseHandle for shared memory mlx5_0 failed, error code: 12"},
      {.text = "Error: {text:Could not map view of file|failed to create shared memory "
               "mapping|failed to open shared memory mapping} {...}",
       .example = "Error: Could not map view of file mlx5_0 size 12, error code: 12"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Devices of a Windows host (os/windows.cc, 2.30.3 and later).
struct WindowsDeviceFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_device_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "Windows did not tell where a device sits on PCI, or the driver's library could not be "
      "loaded. Paths may be chosen badly; check the NVIDIA driver."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Failed to get PCI info from NVML device|ncclOsGetPciDeviceParent: Failed to "
               "allocate memory for parent bus ID}",
       .example = "Failed to get PCI info from NVML device"},
      {.text = "{text:Failed to load nvml.dll, error code:|Invalid PCI bus ID "
               "format:|SetupDiGetClassDevs failed:|ncclOsGetPciDeviceClassByBusId: Failed to "
               "parse PCI bus ID:|ncclOsGetPciDeviceParent: Failed to parse PCI bus ID:} {...}",
       .example = "Failed to load nvml.dll, error code: 12"},
      {.text = "{text:Failed to set environment variable|GetProcessAffinityMask failed with "
               "error:|SetProcessAffinityMask failed with error:} {...}",
       .example = "Failed to set environment variable mlx5_0 to mlx5_0: error 12",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "The environment or the CPU affinity of this process could not be read or "
                   "changed on Windows. The error number says why."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// What the Windows build finds out about devices and memory (os/windows*.cc, 2.29.2 and later).
struct WindowsNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text:ncclOsGetPciDeviceParent: Could not get bus ID for parent "
               "device|ncclOsGetPciDeviceParent: Failed to get PCI info from NVML device}",
       .example = "ncclOsGetPciDeviceParent: Could not get bus ID for parent device"},
      {.text = "{text:Created shared memory mapping|Last reference to shared memory|SHM legacy: "
               "cudaHostRegister/cudaHostGetDevicePointer failed:|Unlinking shared "
               "memory|ncclOsTopoGetStrFromSys: could not get parent device "
               "for|ncclOsTopoGetStrFromSys: device|ncclOsGetPciDeviceClassByBusId: "
               "ClassGUID:|ncclOsGetPciDeviceClassByBusId: Extracted class} {...}",
       .example = "Created shared memory mapping mlx5_0 with 3 bytes"},
      {.text =
           "{text:ncclOsGetPciDeviceParent: Could not find device|ncclOsGetPciDeviceParent: "
           "Device|ncclOsGetPciDeviceParent: Getting parent for device|ncclOsGetPciDeviceParent: "
           "No parent found for device|WSAStartup succeeded, Winsock version} {...}",
       .example = "ncclOsGetPciDeviceParent: Could not find device mlx5_0"},
      {.text = "Could not {text:find PCI device with bus ID} {...}",
       .example = "Could not find PCI device with bus ID mlx5_0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using WindowsMessages = Kinds<WindowsSocketFailed, WindowsIpcFailed, WindowsSharedMemoryFailed,
                              WindowsDeviceFailed, WindowsNote>;

}  // namespace ncclog
