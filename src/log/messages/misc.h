// Everything that fits no other family.
//
//   Continuing in spite of a RAS initialization error

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// Parameters of the library and of plugins (param/*.cc, 2.29.7 and later).
struct ParamNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "param_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Env;
  static constexpr Wording kWordings[] = {
      {.text = "{text:PARAM: Duplicate option name|PARAM: Duplicate registration for key|Disabling "
               "caching for environment variable|ENV:|PARAM: Disabling caching for environment "
               "variable|PARAM: key|PARAM: type mismatch for key|Warning: ENV} {...}",
       .example = "PARAM: Duplicate option name \"mlx5_0\""},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A consistency check failed, or the caller did something rare (enqueue.cc, init.cc, group.cc
/// and others): look for an earlier error first.
struct InternalFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "internal_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{text:CUDA Graph helper resource is null|Failed to allocate memory for adapter "
               "addresses|Internal error : NVswitch links mismatch|Intrusive address map pointer "
               "is NULL|Multiple ends found in group|Multiple starts found in group|NCCL does not "
               "support this CUDA version for CUDA graph feature|NET/Socket : test called with "
               "NULL request|NET/Socket : unable to allocate requests|NET/Socket : unable to "
               "allocate subtasks|NET: GDR Flush only supported on x86_64|Object pointer is NULL}",
       .example = "CUDA Graph helper resource is null"},
      {.text = "{text:Output object pointer is NULL|P2p schedule creation has bugs.|Recursive P2P "
               "computation cannot work for >8 GPUs|Sendrecv plan not aligned for self|Sendrecv "
               "schedule not aligned for self|Socket : unable to allocate requests|Stream is not "
               "being captured by the expected graph.|The installed CUDA driver is older than the "
               "minimum version (R465) required for NCCL's CUDA Graphs support|Tuner plugin "
               "refcount is 0, yet tunerPluginLib ptr is NULL|Unable to register user "
               "buffers|Unknown device code index|getRandomData: buffer is NULL}",
       .example = "Output object pointer is NULL"},
      {.text = "{text:graphStreamOrdering=0 with graphUsageMode=2 (graph mixing) is not supported; "
               "falling back to graphStreamOrdering=1 for this communicator|ncclIpcSocketGetFd: "
               "pass NULL socket|Unknown CTA policy; the legacy usage of NCCL_CTA_POLICY only "
               "supports the value of 0 (DEFAULT), 1 (EFFICIENCY), or 2 (ZERO). Using DEFAULT "
               "instead.|Disabling work fifo|NCCL did not shutdown nvml properly|Continuing in "
               "spite of a RAS initialization error}",
       .example = "graphStreamOrdering=0 with graphUsageMode=2 (graph mixing) is not supported; "
                  "falling back to graphStreamOrdering=1 for this communicator"},
      {.text = "Error : {text:Network returned 0 device}",
       .example = "Error : Network returned 0 device"},
      {.text = "{:word}: {text:failed to set the number of devices for|trying to access the number "
               "of devices of an uninitialized} {...}",
       .example = "ncclNetInit: failed to set the number of devices for netPlugin[3] to 3"},
      {.text =
           "{text:Both NCCL_CTA_POLICY_ZERO and NCCL_CTA_POLICY_EFFICIENCY are set in "
           "CTAPolicy|CUDA device|Comm config netName|Connecting ring|Connecting rings but did not "
           "find start/end for ring|Expected graph|Failed to determine intra node ranks "
           "rank|Failed to determine intra proc ranks rank|Failed to determine intra ranks|Failed "
           "to determine local ranks rank|Failure in host setup :|Group creation failed:} {...}",
       .example = "Both NCCL_CTA_POLICY_ZERO and NCCL_CTA_POLICY_EFFICIENCY are set in CTAPolicy "
                  "(3). Unsetting POLICY_EFFICIENCY."},
      {.text =
           "{text:Intrusive address map initialization failed:|Intrusive address map resize "
           "failed:|Invalid argument comm|Invalid argument desc|Invalid arguments comm|Invalid "
           "client status|Invalid handle|Invalid intra-node rank|Invalid key size|Invalid "
           "regBufType|Max rings reached, limiting to|NCCL cannot use a plane ID that is} {...}",
       .example = "Intrusive address map initialization failed: calloc(12 entries) returned null"},
      {.text = "{text:NCCL cannot use more than|NCCL_DEVICE_UNPACK plugin has incompatible "
               "version|NET/Socket : ncclNetSocketListen|Net registration invalid algorithm|Split "
               "shares resources, but parent comm netName|Unknown collective|Unknown collnet "
               "pattern|Unknown device code index|Unknown device error|Unknown pattern|failed to "
               "set the number of devices for|getRandomData: std::random_device failed:} {...}",
       .example = "NCCL cannot use more than 3 plane IDs."},
      {.text = "{text:nLocals =|trying to access the number of devices of an uninitialized|DEBUG "
               "file is|CUDA Graph helper thread created for device|CUDA Graph helper thread for "
               "device|stream is being captured by a new graph, id|Comm config "
               "trafficClass|Intrusive map: inserting object|ncclMaxSharedMem|Stack size limit|NET "
               ": Found interface|Found network interface} {...}",
       .example = "nLocals = 3 should be a diviser of the number of ranks in node 3 = 3"},
      {.text = "{text:Unexpected error from ncclSocketReady; terminating the socket connection "
               "with} {...}",
       .example =
           "Unexpected error from ncclSocketReady; terminating the socket connection with mlx5_0"},
      {.text = "{text:cudaArch} {:int} dynamic smem {:int} exceeds device/fn maxSharedMem {:int}",
       .example = "cudaArch 3 dynamic smem 3 exceeds device/fn maxSharedMem 3"},
      {.text =
           "{text:cudaArch} {:int} ncclMaxSharedMem {:int} exceeds device/fn maxSharedMem {:int}",
       .example = "cudaArch 3 ncclMaxSharedMem 3 exceeds device/fn maxSharedMem 12"},
      {.text = "{text:maxCTAs} {:int} is larger than #channels upper limit {:int}",
       .example = "maxCTAs 3 is larger than #channels upper limit 3"},
      {.text = "{text:minCTAs} {:int} is larger than #channels upper limit {:int}",
       .example = "minCTAs 3 is larger than #channels upper limit 3"},
      {.text = "{text:minCTAs} {:int} is larger than maxCTAs {:int}",
       .example = "minCTAs 3 is larger than maxCTAs 3"},
      {.text = "rank {:int} {text:invalid IPC peerIndex|invalid IPC peerRank|base stride} {...}",
       .example = "rank 3 invalid IPC peerIndex 3 for peerRank 3 ipcIndexSize 3 ipcInfosSize 3 "
                  "p2pCrossClique 3"},
      {.text = "{text:Created} {:int} queue info, destroyed {:int}",
       .example = "Created 3 queue info, destroyed 3"},
      {.text = "{text:Skipping} {}kernel {:int} which requires driver {:int}",
       .example = "Skipping mlx5_0kernel 3 which requires driver 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// System calls of the Windows build (os/windows*.cc, 2.29.2 and later).
struct WindowsFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "windows_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text =
           "{text:Failed to get PCI info from NVML device|IPC: Invalid socket handle|IPC: "
           "Operation aborted|IPC: Pipe name too long|ncclOsGetPciDeviceParent: Failed to allocate "
           "memory for parent bus ID|ncclOsGetPciDeviceParent: Could not get bus ID for parent "
           "device|ncclOsGetPciDeviceParent: Failed to get PCI info from NVML device}",
       .example = "Failed to get PCI info from NVML device"},
      {.text =
           "{text:CloseHandle for shared memory|Failed to close socket:|Failed to create socket "
           "pair: WSA error|Failed to load nvml.dll, error code:|Failed to recv:|Failed to "
           "send:|Failed to set environment variable|GetAdaptersAddresses failed with "
           "error:|GetProcessAffinityMask failed with error:|IPC: DuplicateHandle failed: "
           "error|IPC: Failed to connect named pipe: error|IPC: Failed to connect to pipe} {...}",
       .example = "CloseHandle for shared memory mlx5_0 failed, error code: 12"},
      {.text =
           "{text:IPC: Failed to create named pipe|IPC: ReadFile failed: error|IPC: "
           "SetNamedPipeHandleState failed: error|IPC: WriteFile failed: error|Invalid PCI bus ID "
           "format:|SHM legacy: cudaHostUnregister after setup failure failed:|SHM legacy: failed "
           "to restore CUDA stream capture mode:|SetProcessAffinityMask failed with "
           "error:|SetupDiGetClassDevs failed:|UnmapViewOfFile of shared memory|WSAStartup failed "
           "with error:|ncclOsGetPciDeviceClassByBusId: Failed to parse PCI bus ID:} {...}",
       .example = "IPC: Failed to create named pipe mlx5_0: error 3"},
      {.text = "{text:ncclOsGetPciDeviceParent: Failed to parse PCI bus "
               "ID:|ncclOsSocketProgressOpt: ioctlsocket failed with error:|ncclOsSocketResetFd: "
               "socket() failed with error|ncclOsSocketSetFlags: ioctlsocket failed with "
               "error:|Created shared memory mapping|Last reference to shared memory|SHM legacy: "
               "cudaHostRegister/cudaHostGetDevicePointer failed:|Unlinking shared "
               "memory|ncclOsTopoGetStrFromSys: could not get parent device "
               "for|ncclOsTopoGetStrFromSys: device|ncclOsGetPciDeviceClassByBusId: "
               "ClassGUID:|ncclOsGetPciDeviceClassByBusId: Extracted class} {...}",
       .example = "ncclOsGetPciDeviceParent: Failed to parse PCI bus ID: mlx5_0"},
      {.text =
           "{text:ncclOsGetPciDeviceParent: Could not find device|ncclOsGetPciDeviceParent: "
           "Device|ncclOsGetPciDeviceParent: Getting parent for device|ncclOsGetPciDeviceParent: "
           "No parent found for device|WSAStartup succeeded, Winsock version} {...}",
       .example = "ncclOsGetPciDeviceParent: Could not find device mlx5_0"},
      {.text = "Error: {text:Could not map view of file|failed to create shared memory "
               "mapping|failed to open shared memory mapping} {...}",
       .example = "Error: Could not map view of file mlx5_0 size 12, error code: 12"},
      {.text = "Could not {text:find PCI device with bus ID} {...}",
       .example = "Could not find PCI device with bus ID mlx5_0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using MiscMessages = Kinds<ParamNote, InternalFailed, WindowsFailed>;

}  // namespace ncclog
