// What hangs on what in the hosts of a run, as NCCL sees it?
//
//   GPU/0-a1000 … (2/240.0/NVL) … (4/48.0/PHB)   → between GPUs: "NVL", GPUs to NICs: "PHB"
//
// Hosts are told apart by what they have only, so a job on other hosts of the same sort has the
// same traits. Bus ids and the order of devices are names, and left out.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "diagnose/fact_answers.h"
#include "diagnose/trait_tables.h"
#include "log/messages.h"

namespace ncclog {
namespace {

constexpr std::string_view kNvls = "NVLink SHARP";

using Counts = std::map<std::string, int64_t>;

/// "56 NVL, 8 SYS".
std::string counts_text(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(fmt::format("{} {}", count, what));
  return join(parts, ", ");
}

/// "NVL at 370.8 GB/s".
std::string link_text(std::string_view type, double bw) {
  return bw < 0 ? std::string(type) : fmt::format("{} at {:.1f} GB/s", type, bw);
}

/// What one host shows, by the name of the trait.
class HostTraits {
 public:
  explicit HostTraits(const SystemTopology& system) : system_(system) {
    add_devices();
    add_gpu_links();
    add_paths("GPU", "paths between GPUs");
    add_paths("NET", "paths from GPUs to NICs");
  }

  const std::map<std::string, Counts>& counts() const { return counts_; }

 private:
  const std::string& kind_of(int node) const {
    return system_.nodes[static_cast<size_t>(node)].name.kind;
  }

  void add_devices() {
    for (const SystemNode& node : system_.nodes) {
      const bool is_net = node.name.kind == "NET";
      if (!is_net && node.name.kind != "GPU" && node.name.kind != "CPU") continue;
      const bool has_speed = is_net && node.speed >= 0;
      ++counts_["devices of a host"]
               [has_speed ? fmt::format("NIC of {:.1f} GB/s", node.speed) : node.name.kind];
    }
  }

  void add_gpu_links() {
    for (const SystemNode& node : system_.nodes) {
      if (node.name.kind != "GPU" || node.parent < 0) continue;
      ++counts_["PCI links of GPUs"][link_text(node.link, node.bw)];
    }
    for (const SystemLink& link : system_.links) {
      if (kind_of(link.from) != "GPU") continue;
      ++counts_["NVLinks of GPUs"][link_text(link.type, link.bw)];
    }
  }

  void add_paths(std::string_view to, const std::string& name) {
    for (const SystemPath& path : system_.paths) {
      const bool wanted =
          path.from != path.to && kind_of(path.from) == "GPU" && kind_of(path.to) == to;
      if (wanted) ++counts_[name][path.type];
    }
  }

  const SystemTopology& system_;
  std::map<std::string, Counts> counts_;
};

Evidence first_topology_line(const Job& job) {
  Evidence line;
  for_each_said<SystemHeader>(job, [&](const Said<SystemHeader>& said) {
    if (line.where.line == 0 || said.record.where < line.where) line = evidence_of(said.record);
  });
  return line;
}

void add_hosts(const Job& job, Traits& traits) {
  std::map<std::string, StatedValues> by_name;
  const Evidence line = first_topology_line(job);
  for (const HostTopology& host : job.topologies) {
    // A file may describe a host that another one describes too, or more than what NCCL uses.
    if (!host.source.empty() || host.system.cut) continue;
    const HostTraits shown(host.system);
    for (const auto& [name, counts] : shown.counts()) by_name[name].add(counts_text(counts), line);
  }
  for (const auto& [name, values] : by_name) {
    traits.push_back(trait_of(Topic::Topology, name, values));
  }
}

void add_nvls(const Job& job, Traits& traits) {
  StatedValues states;
  for_each_said<NvlsSupport>(job, [&](const Said<NvlsSupport>& said) {
    const bool available = said.message.state == "available";
    states.add(available ? "available" : "not available", evidence_of(said.record));
  });
  if (!states.empty()) traits.push_back(trait_of(Topic::Topology, std::string(kNvls), states));
}

}  // namespace

void add_topology_traits(const Job& job, Traits& traits) {
  add_hosts(job, traits);
  add_nvls(job, traits);
}

Absence topology_absence(const Job& job, const Trait& other) {
  const bool shows =
      std::any_of(job.topologies.begin(), job.topologies.end(),
                  [](const HostTopology& host) { return host.source.empty() && !host.system.cut; });
  if (other.name == kNvls) return not_told("no line of its logs tells of NVLink SHARP");
  return shows ? proven() : not_told("no process prints its host's devices (subsystem GRAPH)");
}

}  // namespace ncclog
