// From a host's answers to its report.
//
//   file /proc/self/limits: "Max locked memory  65536  65536  bytes"   → memlock {65536, 65536}
//   space /dev/shm: size 67108864                                      → shm.size
//
// Pure but for the questions it asks: the same record gives the same report. What an answer lacks
// stays unknown.

#pragma once

#include <string>

#include "host/host_tree.h"
#include "model/companions/host_report.h"

namespace ncclog {

/// Asks all that a report holds. `source` is where the tree comes from.
HostReport read_host(HostTree& tree, const std::string& source);

// Parts of a report, for read_host.

/// Interfaces, RDMA devices and what lets them reach GPU memory (host/read_network.cc).
void read_network(HostTree& tree, HostReport& report);

/// GPUs, the PCI bridges above them and above adapters, the IOMMU (host/read_devices.cc).
void read_devices(HostTree& tree, HostReport& report);

/// Settings, libraries and plug-ins (host/read_libraries.cc).
void read_libraries(HostTree& tree, HostReport& report);

// Words for reading answers.

/// The number that an answer begins with; -1 for none.
int64_t number_of(const HostAnswer& answer);

/// The lines of an answer; none where there is none.
std::vector<std::string_view> lines_of(const HostAnswer& answer);

}  // namespace ncclog
