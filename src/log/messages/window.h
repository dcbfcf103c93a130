// Symmetric windows and device communicators (2.27 and later).
//
//   Communicator does not support symmetric memory!

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The program's device code and the library differ (dev_runtime.cc, 2.29.2 and later).
struct DeviceApiMismatch {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "device_api_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The program's device code was compiled for another NCCL release than the one that runs. "
      "Rebuild it, or load the matching library."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:The application was compiled with too old version of NCCL. It was compiled "
               "with NCCL version|NCCL library is not backwards compatible. This application was "
               "compiled with NCCL version|NCCL library is too old. This application was compiled "
               "with NCCL version|NCCL library version is too old. This application was compiled "
               "with NCCL version} {...}",
       .example = "The application was compiled with too old version of NCCL. It was compiled with "
                  "NCCL version 3, but is running with NCCL library version 3. Because of its use "
                  "of GIN device kernels, it needs to be recompiled, preferably with the same NCCL "
                  "version that it will be running with."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// No symmetric memory here (dev_runtime.cc, 2.28.3 and later).
struct WindowUnsupported {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_unsupported";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "Symmetric memory is not available for this communicator. Check NCCL_WIN_ENABLE and "
      "NCCL_CUMEM_ENABLE, and that all of its GPUs reach each other directly."};
  static constexpr Warning kNoMulticast{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The program asks for multicast memory where there is no NVLink SHARP, or passes a null "
      "pointer for it. Check NCCL_NVLS_ENABLE and the fabric manager."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Communicator does not support symmetric memory!}",
       .example = "Communicator does not support symmetric memory!"},
      {.text = "{text:Multicast support requested for team but none available on system.|Multimem "
               "pointer requested but system does not support multimem.}",
       .example = "Multicast support requested for team but none available on system.",
       .warning = kNoMulticast},
      {.text = "{text:MCBasePtr} {:hex} needs to be valid.",
       .example = "MCBasePtr 0x7f10a0 needs to be valid.",
       .warning = kNoMulticast},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Windows and peers that are none (dev_runtime.cc, register.cc, 2.27.3 and later).
struct WindowInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A window, a pointer or a peer's number handed to the symmetric memory calls is not valid. "
      "Allocate with ncclMemAlloc and pass windows of this communicator only."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Window address must be suitably aligned.|window has a NULL user pointer}",
       .example = "Window address must be suitably aligned."},
      {.text = "{:word}: {text:invalid pointer} {...}",
       .example = "ncclNetInit: invalid pointer 0x7f10a0 / size 12"},
      {.text =
           "{text:The provided lsaRank|invalid pointer|ncclDevrWorldToLsaRank: world rank} {...}",
       .example = "The provided lsaRank 3 is not in the valid lsaSize of [0,3] for the provided "
                  "window 0x7f10a0."},
      {.text = "Could not {text:find communicator matching window} {...}",
       .example = "Could not find communicator matching window 0x7f10a0 (map hbits=3 count=3)"},
      {.text = "{text:buffer} {:hex} (baseAddr {:hex} align {:int}) size {:int} (baseSize {:int} "
               "align {:int}) does not satisfy symmetric registration requirements",
       .example = "buffer 0x7f10a0 (baseAddr 0x7f10a0 align 3) size 12 (baseSize 3 align 3) does "
                  "not satisfy symmetric registration requirements"},
      {.text = "{text:peer} {:int} is not within valid range of ranks {:int}.",
       .example = "peer 3 is not within valid range of ranks 3."},
      {.text = "rank {:int} {text:alignment} {...}",
       .example = "rank 3 alignment 3 is not power of 2"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Memory that windows cannot lie over (dev_runtime.cc, dev_runtime_segments.cc).
struct WindowMemoryUnsupported {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_memory_unsupported";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "A window lies over memory that cannot be shared here, such as host-backed or split "
      "segments. See NCCL_ELASTIC_BUFFER_REGISTER and NCCL_MNNVL_ENABLE."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Window registration of addresses that span multiple physical segments is "
               "currently not supported.}",
       .example = "Window registration of addresses that span multiple physical segments is "
                  "currently not supported."},
      {.text = "{text:Segment} {:int} has unsupported location type {...}",
       .example = "Segment 3 has unsupported location type 3. Symmetric memory currently only "
                  "supports CU_MEM_LOCATION_TYPE_HOST_NUMA and CU_MEM_LOCATION_TYPE_DEVICE."},
      {.text = "VA represented by {} contains {text:CPU-backed physical segments}, but {...}",
       .example = "VA represented by {userPtr = 0x7f10a0, size = 4096} contains CPU-backed "
                  "physical segments, but NCCL_ELASTIC_BUFFER_REGISTER is set to 0. Please set "
                  "NCCL_ELASTIC_BUFFER_REGISTER=1 and retry window registration",
       .quotable = true},
      {.text = "{text:Elastic GIN: rank} {...}",
       .example = "Elastic GIN: rank 3 has 3 segments but another rank has 3 segments; all ranks "
                  "must have identical segment configurations",
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "A window is made of different physical segments on different ranks. Allocate "
                   "it in the same pieces on all of them."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The address space of windows (allocator.cc, 2.28.3 and later).
struct WindowSpaceFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_space_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The address space set aside for windows has no room, or the window is gone already. Check "
      "NCCL_WIN_STRIDE and the order in which windows are released."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Device object does not exist in shadow pool.}",
       .example = "Device object does not exist in shadow pool."},
      {.text = "{text:Allocation failed. No suitable space found to accommodate|No allocation "
               "found at} {...}",
       .example = "Allocation failed. No suitable space found to accommodate size=0x1a2b within "
                  "limit=0x1a2b"},
      {.text = "{text:Given size}={:hex} extends beyond allocation.",
       .example = "Given size=0x1a2b extends beyond allocation."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Windows that are made and found (dev_runtime.cc, scheduler/symmetric_sched.cc).
struct WindowNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "window_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Symmetric registration is not supported in this communicator.}",
       .example = "Symmetric registration is not supported in this communicator."},
      {.text = "{text:IPC symmetric alloc buffer|Inserted window|SymCheck: coll|Init CE, rank|LSA "
               "extended to full NVL domain:|Symmetric VA|Symmetric memory is not supported. "
               "cuMemEnable} {...}",
       .example = "IPC symmetric alloc buffer 0x7f10a0 offset 3 size 3 symAllocHead 3"},
      {.text = "[{:int}] {text:Segment} {...}",
       .example = "[3] Segment 3, Type : 3, numSegments : 3, Segment size : 3, memHandle : 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using WindowMessages = Kinds<DeviceApiMismatch, WindowUnsupported, WindowInvalid,
                             WindowMemoryUnsupported, WindowSpaceFailed, WindowNote>;

}  // namespace ncclog
