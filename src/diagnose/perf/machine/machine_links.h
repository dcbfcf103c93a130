// Which links do GPUs and NICs have, as topologies and listings of lspci tell?
//
//   <pci busid="0000:3c:00.0" … link_speed="8.0 GT/s PCIe" link_width="8"> <nic> …   NIC: 6 GB/s
//   17:00.0 3D controller: NVIDIA … [A100 PCIe 40GB], LnkSta: … Width x8             GPU: 12 GB/s
//
// Of all hosts the slowest link counts: who exchanges data waits for it.

#pragma once

#include <string>
#include <vector>

#include "diagnose/perf/machine/machine.h"
#include "diagnose/perf/machine/measured_scope.h"

namespace ncclog {

/// Adds what the topologies of `hosts`, in logs and files, tell: PCIe and NVLink, NICs and their
/// rates, and the model of GPUs where nothing else names it.
void add_topology_links(const MeasuredScope& scope, const std::vector<std::string>& hosts,
                        Machine& machine);

/// Adds what lspci lists of `hosts`: PCIe links, and the model of GPUs where nothing else names it.
void add_listed_links(const MeasuredScope& scope, const std::vector<std::string>& hosts,
                      Machine& machine);

}  // namespace ncclog
