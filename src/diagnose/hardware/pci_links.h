// Which PCIe links of GPUs and NICs have fewer lanes than they could have? As lspci lists them.
//
//   GPU     LnkCap: Speed 16GT/s, Width x16     LnkSta: Speed 2.5GT/s (downgraded), Width x8 (downgraded)
//   port    LnkCap: Speed 16GT/s, Width x16     both ends have 16 lanes, 8 run: narrow
//   port    LnkCap: Speed 16GT/s, Width x8      a slot of 8 lanes: as it was built
//
// What the other end can is listed with the bridge above, or, where that is left out, shown by three
// or more devices of the same name that all have more. A device alone accuses nobody: many slots
// are narrow. Neither does speed: GPUs lower it while they idle, and nothing tells
// whether they were busy when the listing was made; only NICs keep it.

#pragma once

#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// The bridge or root port to which the device's link leads; nullptr: it is not listed.
const PciDevice* port_above(const PciListing& host, const PciDevice& device);

/// "0000:17:00.0"
std::string pci_address(uint64_t bus_id);

/// The link of a GPU, or of a NIC of the kind that carries NCCL's data.
struct PciLinkState {
  const PciListing* host = nullptr;   ///< Never nullptr; owned by the job.
  const PciDevice* device = nullptr;  ///< Never nullptr; owned by the job.
  int generation = -1;                ///< That it can run under load, 1 to 6; -1: not told.
  int lanes = -1;                     ///< That run, 1 to 32.
  int most_lanes = -1;                ///< That both ends have; -1: the other end is not known.

  bool is_narrow() const { return most_lanes > lanes; }
};

/// All links of which lspci lists the lanes, by host. Of a host's NICs those with the fastest links
/// of all, as others serve storage and the host itself. Owned by the job.
const std::vector<PciLinkState>& pci_links(const Job& job);

/// "GPU 0000:41:00.0 on node-a has 8 of 16 lanes"
std::string narrow_link_text(const PciLinkState& link);

}  // namespace ncclog
