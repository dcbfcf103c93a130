// Memory that NCCL takes and registers (subsystems ALLOC and REG, off by default).
//
//   init.cc:512 Cuda Alloc Size 23648 pointer 0x7f3f7a200000

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// An allocation (alloc.h, misc/utils.cc). The place in the source stands in front since 2.10,
/// the function since 2.30.7.
struct AllocTraced {
  std::string_view what;  ///< "Cuda Alloc", "Cuda Host Alloc", "Mem Realloc" …
  int64_t bytes = -1;
  Hex pointer;  ///< 0 if not printed.

  static constexpr std::string_view kKind = "alloc_traced";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Alloc;
  static constexpr Wording kWordings[] = {
      {.text = "{:word}:{:int} {what:Cuda Alloc|Cuda Calloc|Cuda CallocAsync|Cuda Host Alloc|Ib "
               "Alloc|Mem Alloc} Size {bytes} pointer {pointer}",
       .example = "init.cc:512 Cuda Alloc Size 23648 pointer 0x7f3f7a200000"},
      {.text = "{:word}:{:int} {what:Cuda Alloc|Cuda Calloc|Cuda CallocAsync|Cuda Host Alloc} Size "
               "{bytes} pointer {pointer} memType {...}",
       .example = "init.cc:512 Cuda Calloc Size 23648 pointer 0x7f3f7a200000 memType 1"},
      {.text = "{:word}:{:int} {what:Cuda Alloc|Cuda Host Alloc} Size {bytes} pointer {pointer} "
               "seconds: {...}",
       .example =
           "init.cc:512 Cuda Alloc Size 23648 pointer 0x7f3f7a200000 seconds: cudaMalloc=0.0021"},
      {.text =
           "{what:Cuda Alloc|Cuda Host Alloc|Ib Alloc|Mem Alloc} Size {bytes} pointer {pointer}",
       .example = "Cuda Alloc Size 23648 pointer 0x7f3f7a200000"},
      {.text = "{:word}:{:int} ({:word}) {what:Cuda Alloc|Cuda Calloc|Cuda CallocAsync} Size "
               "{bytes} pointer {pointer} memType {...}",
       .example =
           "init.cc:512 (devCommSetup) Cuda Alloc Size 23648 pointer 0x7f3f7a200000 memType 1"},
      {.text = "{:word}:{:int} ({:word}) {what:Cuda Host Alloc|Host Calloc|Ib Alloc|SHM path "
               "string|netName buffer|Persistent cudaMallocAsync work buf|Persistent host work "
               "buf} Size {bytes} pointer {pointer}",
       .example = "init.cc:512 (devCommSetup) Cuda Host Alloc Size 4 pointer 0x7f3f7a200000"},
      {.text = "{what:Mem Realloc} old size {:int}, new size {bytes} pointer {pointer}",
       .example = "Mem Realloc old size 0, new size 256 pointer 0x13183900"},
      {.text = "{:word}:{:int} ({:word}) {what:Mem Realloc} old size {:int}, new size {bytes} "
               "pointer {pointer}",
       .example = "graph/paths.cc:42 (ncclTopoComputePaths) Mem Realloc old size 0, new size 256 "
                  "pointer 0x13183900"},
      {.text = "{:word}:{:int} {what:memory stack hunk|memory stack non-hunk} malloc({bytes})",
       .example = "misc/utils.cc:234 memory stack hunk malloc(65536)"},
      {.text = "{:word}:{:int} ({:word}) {what:memory stack hunk|memory stack non-hunk} "
               "malloc({bytes})",
       .example = "misc/utils.cc:234 (ncclMemoryStack) memory stack hunk malloc(65536)"},
      {.text = "{what:CUMEM Host Alloc} Size {bytes} pointer {pointer} handle {...}",
       .example = "CUMEM Host Alloc Size 4096 pointer 0x7f21e0000000 handle 7f21 numa 0 dev 3 "
                  "granularity 2097152"},
      {.text = "{:word}:{:int} ({:word}) {what:CUMEM Host Alloc} Size {bytes} pointer {pointer} "
               "handle {...}",
       .example = "alloc.h:94 (ncclCuMemHostAlloc) CUMEM Host Alloc Size 4096 pointer "
                  "0x7f21e0000000 handle 7f21 numa 0 dev 3 granularity 2097152"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("what", self.what);
    visit("bytes", self.bytes);
    visit("pointer", self.pointer);
  }
};

/// A user buffer could not be registered (register/*.cc, transport/*.cc, init.cc).
struct RegistrationFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "registration_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "A user buffer could not be registered, so data is copied through NCCL's own buffers and the "
      "operation is slower. Earlier lines may say why."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Unable to register user buffers}",
       .example = "Unable to register user buffers"},
      {.text = "rank {:int} - {text:COLLNET failed to register userbuff} {...}",
       .example = "rank 3 - COLLNET failed to register userbuff 0x7f10a0 (handle 0x7f10a0), "
                  "buffSize 3, type mlx5_0, GDR is not enabled"},
      {.text = "rank {:int} {text:failed to IPC register userbuff|failed to NET register "
               "userbuff|failed to NVLS register sendbuff} {...}",
       .example = "rank 3 failed to IPC register userbuff 0x7f10a0 buffSize 3 nPeers 3 isLegacyIpc "
                  "0x7f10a0"},
      {.text = "{text:register fails, buffer} {...}",
       .example = "register fails, buffer 0x7f10a0 (aligned mlx5_0, granularity 3) and size 3 "
                  "(aligned mlx5_0, granularity 3) for registration",
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "A buffer to be registered is not aligned as registration needs. Allocate it "
                   "with ncclMemAlloc."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A registration could not be taken back (register/*.cc, 2.24.3 and later).
struct DeregistrationFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "deregistration_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Warning kWarning{
      WarnSeverity::Info, WarnOrigin::Symptom,
      "A registration could not be taken back, as happens when the peer or the device is gone. It "
      "matters only together with an earlier error."};
  static constexpr Wording kWordings[] = {
      {.text = "rank {:int} {text:deregister COLLNET buffer handle|deregister IPC "
               "buffer|deregister NET buffer handle|deregister NVLS buffer} {...}",
       .example = "rank 3 deregister COLLNET buffer handle 0x7f10a0 proxy rank 3 failed"},
      {.text = "{text:attaching memory should only reduce refcount by 1 but} {...}",
       .example = "attaching memory should only reduce refcount by 1 but 3 is passed",
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "The use count of a shared segment was to drop by more than one, which NCCL's "
                   "own code rules out."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A user buffer was registered, reused or given back (register.cc, transport/*.cc).
struct RegistrationNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "registration_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Reg;
  static constexpr Wording kWordings[] = {
      {.text = "{text:Cleanup buffer|Register ptr|Number of segments exceeded maximum number of "
               "supported physical segments for p2p|Skipping graph registration for "
               "buffer|Skipping registration for buffer|register comm} {...}",
       .example = "Cleanup buffer 0x7f10a0 pages 1a2b"},
      {.text = "rank {:int} - {text:NVLS deregistered buffer|deregistered buffer|COLLNET "
               "deregistered buffer handle|COLLNET register userbuff|COLLNET reuse register "
               "userbuff|IPC deregistered buffer|IPC graph register buffer|IPC local register "
               "buffer|IPC local reuse buffer|IPC register buffer|IPC registered buffer} {...}",
       .example = "rank 3 - NVLS deregistered buffer 0x7f10a0 on device 3 ucsize 3 mcsize 3"},
      {.text =
           "rank {:int} - {text:IPC registering buffer|IPC reuse buffer|NET register userbuff|NET "
           "reuse buffer|deregistered collnet buffer handle|deregistered net buffer handle} {...}",
       .example = "rank 3 - IPC registering buffer 0x7f10a0 size 12 (baseAddr 0x7f10a0 totalSize "
                  "12 numSegments 3) to peer 3"},
      {.text = "rank {:int} {text:reuse local-registered NVLS sendbuff|reuse local-registered "
               "sendbuff|successfully graph-registered sendbuff|successfully local-registered NVLS "
               "sendbuff|successfully local-registered sendbuff} {...}",
       .example = "rank 3 reuse local-registered NVLS sendbuff 0x7f10a0, recvbuff 0x7f10a0, "
                  "sendbuff size 3, recvbuff size 3, reg sendbuff 0x7f10a0, reg recvbuff 0x7f10a0"},
      {.text = "rank {:int} {text:reuse registered NVLS sendbuff|successfully registered NVLS "
               "sendbuff|successfully registered collNet sendbuff} {...}",
       .example = "rank 3 reuse registered NVLS sendbuff 0x7f10a0, recvbuff 0x7f10a0, sendbuff "
                  "size 3, recvbuff size 3, reg sendbuff 0x7f10a0, reg recvbuff 0x7f10a0"},
      {.text =
           "{text:Buffer} {:hex} (size {:int}, numSegments {:int}) not registered as DMABuf is not "
           "available. Non-DMABuf registration currently does not support multiple segments.",
       .example =
           "Buffer 0x7f10a0 (size 12, numSegments 3) not registered as DMABuf is not available. "
           "Non-DMABuf registration currently does not support multiple segments."},
      {.text = "Proxy rank {:int} {text:register reqBuff|register succeeds, regAddr|register "
               "success regAddr} {...}",
       .example = "Proxy rank 3 register reqBuff 0x7f10a0 size 12 offset 3 legacyIpcCap 3 "
                  "sameProcess 3, totalSize : 12"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using AllocMessages =
    Kinds<AllocTraced, RegistrationFailed, DeregistrationFailed, RegistrationNote>;

}  // namespace ncclog
