// Which GPUs, NICs and bridges has a host, and how do their PCIe links run? As lspci lists them.
//
//   17:00.0 3D controller: NVIDIA Corporation GH100 [H100 PCIe] (rev a1)
//           LnkCap: Port #0, Speed 32GT/s, Width x16, ASPM not supported
//           LnkSta: Speed 2.5GT/s (downgraded), Width x8 (downgraded)
//     → a GPU at 0000:17:00.0 whose link has 8 of 16 lanes, and idles
//
// A link has two ends: the device, and the port of the bridge or root complex above it, each of
// which says what it can. What runs is at most the lower of both. Links of GPUs run slowly while
// nothing is to be done, so that the speed in such a listing says little; lanes are kept.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/line.h"

namespace ncclog {

enum class PciKind { GPU, NIC, Bridge };

/// What one line says of a link.
struct PciLink {
  double speed = -1;  ///< GT/s of a lane; -1: not told.
  int width = -1;     ///< Lanes, 1 to 32; -1: not told, as of functions without a link.
  SourceRef where;    ///< The line; line 0: there is none.
  std::string text;   ///< The line, without blanks around it.
};

struct PciDevice {
  PciKind kind = PciKind::Bridge;
  uint64_t bus_id = 0;  ///< As bus_number() counts (log/address.h).
  std::string name;     ///< What stands behind the class: "NVIDIA Corporation GH100 [H100 PCIe]".
  bool is_fabric = false;  ///< Of a NIC: InfiniBand, Omni-Path, or of a family that does RDMA.
  SourceRef where;
  std::string text;    ///< The line that names it.
  PciLink can;         ///< LnkCap: the device's own.
  PciLink runs;        ///< LnkSta.
  int bus_below = -1;  ///< Of a bridge: the bus on its other side; -1: not told.
};

/// What one listing says of one host.
struct PciListing {
  std::string host;                ///< Empty: nothing tells whose it is.
  std::string source;              ///< Path of the file.
  std::vector<PciDevice> devices;  ///< In the order of the file.
};

}  // namespace ncclog
