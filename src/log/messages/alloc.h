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

using AllocMessages = Kinds<AllocTraced>;

}  // namespace ncclog
