#include "diagnose/nvswitch.h"

#include <algorithm>

namespace ncclog {

std::set<std::string> nvswitch_hosts(const Job& job) {
  std::set<std::string> hosts;
  for (const Process& process : job.processes) {
    if (process.nvls == 1 && !process.host.empty()) hosts.insert(process.host);
  }
  for (const HostTopology& topology : job.topologies) {
    const bool has_switch =
        std::any_of(topology.system.nodes.begin(), topology.system.nodes.end(),
                    [](const SystemNode& node) { return node.name.kind == "NVS"; });
    if (has_switch && !topology.host.empty()) hosts.insert(topology.host);
  }
  return hosts;
}

}  // namespace ncclog
