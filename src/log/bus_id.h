// One name for a PCI address that NCCL, the kernel and nccl-tests each write in their own way.
//
//   busId 1b000   PCI:0000:1b:00   0000:1b:00.0   → 0x1b000
//
// NCCL prints domain, bus, device and function as one hexadecimal number without leading zeros
// (utils.cc, every release).

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ncclog {

/// The address as NCCL counts it. A missing function is 0; nullopt for anything else, and for
/// nccl-tests' "0x1b", which is a bus only.
std::optional<uint64_t> bus_number(std::string_view printed);

}  // namespace ncclog
