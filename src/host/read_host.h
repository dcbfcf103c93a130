// From a host's answers to its report.
//
//   file /proc/self/limits: "Max locked memory  65536  65536  bytes"   → memlock 65536
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

/// Adds settings, libraries and plug-ins (host/read_libraries.cc).
void read_libraries(HostTree& tree, HostReport& report);

/// The lines of an answer; none where there is none.
std::vector<std::string_view> lines_of(const HostAnswer& answer);

}  // namespace ncclog
