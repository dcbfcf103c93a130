// What hangs on what in a host, as a graph: CPUs at the left, GPUs and NICs at the right.
//
//   CPU/0-0 ─ PCI 48.0 ─ PCI/0-90000 ─ PCI 48.0 ─ GPU/0-a1000 ┄ NVL 240.0 ┄ NVS/0-0
//
// Hosts of one make print the same but for their names and ranks: they are drawn once.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "report/graph.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

/// Hosts whose devices are alike.
struct Alike {
  const HostTopology* first = nullptr;
  SystemTopology system;  ///< Without what only one host can have.
  std::vector<std::string> hosts;
};

SystemTopology without_ranks(SystemTopology system) {
  for (SystemNode& node : system.nodes) node.rank = -1;
  return system;
}

std::string owner_of(const HostTopology& topology) {
  if (topology.host.empty()) return topology.source;
  return topology.source.empty() ? topology.host
                                 : fmt::format("{} ({})", topology.host, topology.source);
}

std::vector<Alike> alike_topologies(const Job& job) {
  std::vector<Alike> all;
  for (const HostTopology& topology : job.topologies) {
    if (topology.system.nodes.empty()) continue;
    SystemTopology system = without_ranks(topology.system);
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Alike& known) { return known.system == system; });
    if (same != all.end()) {
      same->hosts.push_back(owner_of(topology));
    } else {
      all.push_back({&topology, std::move(system), {owner_of(topology)}});
    }
  }
  return all;
}

/// "node-a", "node-a and 127 more hosts alike".
std::string title_of(const Alike& alike) {
  if (alike.hosts.size() == 1) return alike.hosts.front();
  return fmt::format("{} and {} alike", alike.hosts.front(),
                     plural(alike.hosts.size() - 1, "more host"));
}

/// "PCI 48.0"; GB/s.
std::string link_text(std::string_view type, double bw) {
  return bw < 0 ? std::string(type) : fmt::format("{} {:.1f}", type, bw);
}

std::string label_of(const SystemNode& node, int rank) {
  std::string label = to_string(node.name);
  if (rank >= 0) label += fmt::format(" rank {}", rank);
  if (!node.device.empty()) label += " " + node.device;
  return label;
}

/// Nodes in the order in which they are drawn: those below one right behind it. No recursion: torn
/// lines may nest any depth.
std::vector<size_t> order_of(const std::vector<SystemNode>& nodes) {
  std::vector<std::vector<size_t>> below(nodes.size());
  std::vector<size_t> open;  // The next one last.
  for (size_t n = nodes.size(); n-- > 0;) {
    const int parent = nodes[n].parent;
    (parent < 0 ? open : below[static_cast<size_t>(parent)]).push_back(n);
  }
  std::vector<size_t> order;
  while (!open.empty()) {
    order.push_back(open.back());
    open.pop_back();
    const auto& children = below[order.back()];
    open.insert(open.end(), children.begin(), children.end());
  }
  return order;
}

void add_links(const SystemTopology& system, const std::vector<int>& places, Graph& graph) {
  size_t hidden = 0;
  for (const SystemLink& link : system.links) {
    const int from = places[static_cast<size_t>(link.from)];
    const int to = places[static_cast<size_t>(link.to)];
    if (from < 0 || to < 0) {
      ++hidden;
      continue;
    }
    const bool twice =
        std::any_of(graph.links.begin(), graph.links.end(),
                    [&](const GraphLink& known) { return known.from == to && known.to == from; });
    if (!twice) graph.links.push_back({from, to, link_text(link.type, link.bw)});
  }
  if (hidden > 0) {
    graph.remarks.push_back(fmt::format("{} to them are left out, too.", plural(hidden, "link")));
  }
}

Graph graph_of(const Alike& alike) {
  const HostTopology& topology = *alike.first;
  const auto& nodes = topology.system.nodes;
  Graph graph{.title = title_of(alike), .shape = GraphShape::Tree};
  std::vector<int> places(nodes.size(), -1);
  for (const size_t n : order_of(nodes)) {
    if (graph.nodes.size() == Graph::kMaxNodes) break;
    places[n] = static_cast<int>(graph.nodes.size());
    const int parent = nodes[n].parent;
    graph.nodes.push_back(
        {.label = label_of(nodes[n], alike.hosts.size() == 1 ? topology.ranks[n] : -1),
         .detail = nodes[n].detail,
         .parent = parent < 0 ? -1 : places[static_cast<size_t>(parent)],
         .link = link_text(nodes[n].link, nodes[n].bw)});
  }
  if (graph.nodes.size() < nodes.size()) {
    graph.remarks.push_back(
        fmt::format("{} more devices are left out.", nodes.size() - graph.nodes.size()));
  }
  add_links(topology.system, places, graph);
  if (topology.system.cut) {
    graph.remarks.push_back("Parts are missing: NCCL cuts long lines, and lines may be torn.");
  }
  return graph;
}

}  // namespace

Drawing topology_drawing(const Job& job, size_t most) {
  Drawing drawing{.title = "Devices of the hosts"};
  const std::vector<Alike> all = alike_topologies(job);
  for (size_t i = 0; i < std::min(all.size(), most); ++i) {
    drawing.graphs.push_back(graph_of(all[i]));
  }
  if (all.size() > most) {
    drawing.notes.push_back(fmt::format(
        "{} of {} different hosts are drawn; 'ncclog show topology' lists all.", most, all.size()));
  }
  if (all.empty()) {
    drawing.notes.push_back(
        "No process prints its host's devices. Set NCCL_DEBUG=INFO with GRAPH among "
        "NCCL_DEBUG_SUBSYS, or add the file that NCCL_TOPO_DUMP_FILE names.");
  }
  return drawing;
}

}  // namespace ncclog
