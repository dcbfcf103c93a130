#include "report/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/text.h"
#include "diagnose/network/connections.h"

namespace ncclog {
namespace {

TransportClass transport_class(const PathParts& path) {
  if (path.transport == Transport::P2P) return TransportClass::P2P;
  if (path.transport == Transport::SHM) return TransportClass::SHM;
  if (path.transport != Transport::NET) return TransportClass::Other;
  if (path.network == "IB") return TransportClass::IB;
  return path.network == "Socket" ? TransportClass::Socket : TransportClass::OtherNet;
}

/// Which ranks an edge joins; -1 where that is not certain.
std::pair<int, int> ends_of(const Job& job, const Edge& edge, bool global) {
  if (!global) return {edge.src_rank, edge.dst_rank};
  if (edge.peer < 0) return {-1, -1};
  const int own = job.processes[edge.process].rank;
  const int peer = job.processes[edge.peer].rank;
  return edge.sends ? std::pair(own, peer) : std::pair(peer, own);
}

/// Hosts by rank: of the only communicator, or by global rank.
std::map<int, std::string> hosts_by_rank(const Job& job, bool global) {
  std::map<int, std::string> hosts;
  if (!global && !job.communicators.empty()) {
    for (const CommRank& rank : job.communicators.front().ranks) {
      if (rank.process < 0) continue;
      hosts[rank.rank] = job.processes[rank.process].host;
    }
    return hosts;
  }
  for (const Process& process : job.processes) {
    if (process.rank >= 0) hosts.try_emplace(process.rank, process.host);
  }
  return hosts;
}

// The rings and trees of communicators as graphs. Of more ranks than a graph may have nodes, those
// that follow each other on one host become one node.
//
//   Channel 00/24 : 0 1 2 3 8 9 10 11   →   node-a: 0-3 → node-b: 8-11 → node-a

/// A rank, or with too many of them all that hang together on one host.
struct Region {
  std::vector<int> ranks;            ///< The first is the one nearest the root.
  int parent = -1;                   ///< Into the list of regions, always before it; -1: none.
  int above = -1;                    ///< The rank that the first one hangs on.
  const Process* process = nullptr;  ///< Of the first one; nullptr: unknown.

  std::string_view host() const { return process == nullptr ? std::string_view() : process->host; }
};

/// Adds a rank that hangs on that of the region `parent`; -1: on none.
void add_rank(const Job& job, const Communicator& comm, int rank, int parent,
              std::vector<Region>& regions) {
  const auto found = std::ranges::lower_bound(comm.ranks, rank, {}, &CommRank::rank);
  const bool there = found != comm.ranks.end() && found->rank == rank && found->process >= 0;
  regions.push_back({{rank},
                     parent,
                     parent < 0 ? -1 : regions[parent].ranks.front(),
                     there ? &job.processes[found->process] : nullptr});
}

std::vector<Region> ranks_of(const Job& job, const Communicator& comm, const Ring& ring) {
  std::vector<Region> ranks;
  for (const int rank : ring.order) {
    add_rank(job, comm, rank, static_cast<int>(ranks.size()) - 1, ranks);
  }
  return ranks;
}

/// Parents stand before children; ranks that no line places are left out.
std::vector<Region> ranks_of(const Job& job, const Communicator& comm, const Tree& tree) {
  std::map<int, std::vector<int>> below;
  std::vector<std::pair<int, int>> open;  // Rank, and the place of its parent; the next one last.
  for (size_t rank = tree.parents.size(); rank-- > 0;) {
    const int parent = tree.parents[rank];
    if (parent == -1) open.emplace_back(static_cast<int>(rank), -1);
    if (parent >= 0) below[parent].push_back(static_cast<int>(rank));
  }
  std::vector<Region> ranks;
  while (!open.empty()) {
    const auto [rank, parent] = open.back();
    open.pop_back();
    add_rank(job, comm, rank, parent, ranks);
    const int place = static_cast<int>(ranks.size()) - 1;
    for (const int child : below[rank]) open.emplace_back(child, place);
  }
  return ranks;
}

/// `ranks`, those that follow each other on one host as one.
std::vector<Region> folded(const std::vector<Region>& ranks) {
  std::vector<Region> regions;
  std::vector<int> region_of;  // Of each rank.
  for (const Region& each : ranks) {
    const int parent = each.parent < 0 ? -1 : region_of[each.parent];
    const bool joins = parent >= 0 && !each.host().empty() && regions[parent].host() == each.host();
    region_of.push_back(joins ? parent : static_cast<int>(regions.size()));
    if (joins) {
      regions[parent].ranks.push_back(each.ranks.front());
    } else {
      regions.push_back(each);
      regions.back().parent = parent;
    }
  }
  return regions;
}

/// The nodes of a tree stand where the tree wants them, so they name their hosts.
void add_hosts(const std::vector<Region>& regions, Graph& graph) {
  const bool is_one = std::ranges::all_of(
      regions, [&](const Region& region) { return region.host() == regions.front().host(); });
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::string host(regions[n].host());
    if (graph.is_ring) graph.nodes[n].host = host.empty() ? "unknown host" : host;
    if (!graph.is_ring && !is_one) graph.nodes[n].label += " " + host;
  }
}

/// "3"; of a folded graph "node-a: 0-7".
GraphNode node_of(const Region& region, bool is_folded, bool is_ring) {
  const std::string numbers = ranges_text(region.ranks);
  const std::string host(region.host());
  GraphNode node{.label = is_folded && !host.empty() ? host + ": " + numbers : numbers};
  if (!is_ring) node.parent = region.parent;
  node.detail = fmt::format("rank{} {}", region.ranks.size() == 1 ? "" : "s", numbers);
  if (!host.empty()) node.detail += ", " + host;
  if (region.process != nullptr && region.process->pid >= 0 && region.ranks.size() == 1) {
    node.detail += fmt::format(", pid {}", region.process->pid);
  }
  return node;
}

/// The rank under which `rank` of `comm` appears in `paths`; -1: it does not.
int rank_in_paths(const Job& job, const RankPaths& paths, const Communicator& comm, int rank) {
  if (!paths.global) return rank;
  const auto found = std::ranges::find_if(
      comm.ranks, [rank](const CommRank& member) { return member.rank == rank; });
  if (found == comm.ranks.end() || found->process < 0) return -1;
  return job.processes[found->process].rank;
}

/// Where the way between two ranks is known, names it at the node. A tree is used in both
/// directions, and the log may tell of one only.
void set_way(const RankPaths& paths, int from, int to, GraphNode& node) {
  if (from < 0 || to < 0) return;
  auto found = paths.pairs.find({from, to});
  if (found == paths.pairs.end()) found = paths.pairs.find({to, from});
  if (found == paths.pairs.end()) return;
  node.link = found->second.text;
  if (found->second.classes.size() == 1) node.transport = *found->second.classes.begin();
}

/// `of` is a Ring or a Tree.
Graph graph_of(const Job& job, const Communicator& comm, const RankPaths& paths, const auto& of) {
  constexpr bool kIsRing = std::is_same_v<decltype(of), const Ring&>;
  const bool is_one = (of.channels & (of.channels - 1)) == 0;
  Graph graph{.title = fmt::format("Communicator {}: {} of channel{} {}", comm.id,
                                   kIsRing ? "ring" : "tree", is_one ? "" : "s",
                                   channels_text(of.channels)),
              .is_ring = kIsRing,
              .closed = of.check == GraphCheck::Sound};
  if (of.check == GraphCheck::Broken) graph.remarks.push_back("Broken: " + of.remark + ".");
  if (of.check == GraphCheck::Unknown) {
    graph.remarks.push_back(of.remark.empty() ? "The log does not tell all of it."
                                              : "Not known to its end: " + of.remark + ".");
  }
  std::vector<Region> regions = ranks_of(job, comm, of);
  const bool is_folded = regions.size() > Graph::kMaxNodes;
  if (is_folded) {
    graph.remarks.push_back(fmt::format(
        "{} ranks: those that follow each other on one host share a box.", regions.size()));
    regions = folded(regions);
  }
  if (regions.size() > Graph::kMaxNodes) {
    graph.closed = false;
    graph.remarks.push_back(
        fmt::format("{} more boxes are left out.", regions.size() - Graph::kMaxNodes));
    regions.resize(Graph::kMaxNodes);
  }
  for (const Region& region : regions) graph.nodes.push_back(node_of(region, is_folded, kIsRing));
  if (!is_folded) add_hosts(regions, graph);
  // The last rank of a ring's node reaches the first of the next one, the first of a tree's node
  // its parent.
  const auto in_paths = [&](int rank) { return rank_in_paths(job, paths, comm, rank); };
  for (size_t n = 0; n < regions.size(); ++n) {
    const bool is_last = n + 1 == regions.size();
    if (!kIsRing) {
      if (regions[n].above < 0) continue;
      set_way(paths, in_paths(regions[n].ranks.front()), in_paths(regions[n].above),
              graph.nodes[n]);
    } else if (!is_last || (graph.closed && n > 0)) {
      set_way(paths, in_paths(regions[n].ranks.back()),
              in_paths(regions[is_last ? 0 : n + 1].ranks.front()), graph.nodes[n]);
    }
  }
  return graph;
}

// What hangs on what in a host, as a graph: CPUs at the left, GPUs and NICs at the right.
//
//   CPU/0-0 ─ PCI 48.0 ─ PCI/0-90000 ─ PCI 48.0 ─ GPU/0-a1000 ┄ NVL 240.0 ┄ NVS/0-0
//
// Hosts of one make print the same but for their names and ranks: they are drawn once.

/// Hosts whose devices are alike.
struct Alike {
  const HostTopology* first = nullptr;
  SystemTopology system;  ///< Without what only one host can have.
  std::vector<std::string> hosts;
};

std::string owner_of(const HostTopology& topology) {
  if (topology.host.empty()) return topology.source;
  return topology.source.empty() ? topology.host
                                 : fmt::format("{} ({})", topology.host, topology.source);
}

std::vector<Alike> alike_topologies(const Job& job) {
  std::vector<Alike> all;
  for (const HostTopology& topology : job.topologies) {
    if (topology.system.nodes.empty()) continue;
    SystemTopology system = topology.system;
    for (SystemNode& node : system.nodes) node.rank = -1;
    const auto same =
        std::ranges::find_if(all, [&](const Alike& known) { return known.system == system; });
    if (same != all.end()) {
      same->hosts.push_back(owner_of(topology));
    } else {
      all.push_back({&topology, std::move(system), {owner_of(topology)}});
    }
  }
  return all;
}

void add_links(const SystemTopology& system, const std::vector<int>& places, Graph& graph) {
  size_t hidden = 0;
  for (const SystemLink& link : system.links) {
    const int from = places[link.from];
    const int to = places[link.to];
    if (from < 0 || to < 0) {
      ++hidden;
      continue;
    }
    const bool twice = std::ranges::any_of(
        graph.links, [&](const GraphLink& known) { return known.from == to && known.to == from; });
    if (!twice) graph.links.push_back({from, to, link_text(link.type, link.bw)});
  }
  if (hidden > 0) {
    graph.remarks.push_back(fmt::format("{} to them are left out, too.", plural(hidden, "link")));
  }
}

Graph graph_of(const Alike& alike) {
  const HostTopology& topology = *alike.first;
  const auto& nodes = topology.system.nodes;
  Graph graph{.title = alike.hosts.front()};
  if (alike.hosts.size() > 1) {
    graph.title += fmt::format(" and {} alike", plural(alike.hosts.size() - 1, "more host"));
  }
  std::vector<int> places(nodes.size(), -1);
  for (const size_t n : nodes_in_order(topology.system)) {
    if (graph.nodes.size() == Graph::kMaxNodes) break;
    places[n] = static_cast<int>(graph.nodes.size());
    const int parent = nodes[n].parent;
    const int rank = alike.hosts.size() == 1 ? topology.ranks[n] : -1;
    std::string label = to_string(nodes[n].name);
    if (rank >= 0) label += fmt::format(" rank {}", rank);
    if (!nodes[n].device.empty()) label += " " + nodes[n].device;
    graph.nodes.push_back({.label = std::move(label),
                           .detail = nodes[n].detail,
                           .parent = parent < 0 ? -1 : places[parent],
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

DrawGraphs* find_drawing(std::string_view name) {
  if (name == "channels") return channels_drawing;
  return name == "topology" ? topology_drawing : nullptr;
}

std::vector<std::string> graph_lines(const Graph& graph) {
  std::vector<std::string> lines;
  if (graph.is_ring) {
    for (const GraphNode& node : graph.nodes) lines.push_back(node.label);
    if (graph.closed && !lines.empty()) lines.push_back(lines.front());
    return {join(lines, " → ")};
  }
  std::vector<size_t> depths;
  for (const GraphNode& node : graph.nodes) {
    depths.push_back(node.parent < 0 ? 0 : depths[node.parent] + 1);
    lines.push_back(std::string(2 * depths.back(), ' ') + node.label +
                    (node.link.empty() ? "" : " (" + node.link + ")"));
  }
  for (const GraphLink& link : graph.links) {
    lines.push_back(fmt::format("{} - {}: {}", graph.nodes[link.from].label,
                                graph.nodes[link.to].label, link.label));
  }
  return lines;
}

Drawing channels_drawing(const Job& job, size_t most) {
  Drawing drawing{.title = "Rings and trees"};
  const RankPaths paths = rank_paths(job);
  size_t all = 0;
  for (const Communicator& comm : job.communicators) {
    for (const Ring& ring : comm.graphs.rings) {
      if (ring.order.empty() || ++all > most) continue;
      drawing.graphs.push_back(graph_of(job, comm, paths, ring));
    }
    for (const Tree& tree : comm.graphs.trees) {
      if (tree.parents.empty() || ++all > most) continue;
      drawing.graphs.push_back(graph_of(job, comm, paths, tree));
    }
  }
  if (all > most) {
    drawing.notes.push_back(fmt::format(
        "{} of {} rings and trees are drawn; 'ncclog show topology' lists all.", most, all));
  }
  if (all == 0) {
    drawing.notes.push_back(
        "No line tells a ring or a tree. Set NCCL_DEBUG=INFO with INIT,GRAPH among "
        "NCCL_DEBUG_SUBSYS.");
  }
  return drawing;
}

std::vector<size_t> nodes_in_order(const SystemTopology& system) {
  std::vector<std::vector<size_t>> below(system.nodes.size());
  std::vector<size_t> open;  // The next one last.
  for (size_t n = system.nodes.size(); n-- > 0;) {
    const int parent = system.nodes[n].parent;
    (parent < 0 ? open : below[parent]).push_back(n);
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

std::string link_text(std::string_view type, double bw) {
  return bw < 0 ? std::string(type) : fmt::format("{} {:.1f}", type, bw);
}

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

RankPaths rank_paths(const Job& job) {
  RankPaths all;
  all.global = job.communicators.size() > 1;
  for (const Process& process : job.processes) {
    if (!process.torn) continue;
    for (const size_t log : process.logs) all.torn += job.logs[log].connections.all.size();
  }
  const std::map<int, std::string> hosts = hosts_by_rank(job, all.global);
  std::map<std::pair<int, int>, std::set<std::string_view>> texts;
  for (const Edge& edge : edges_of(job)) {
    const auto ends = ends_of(job, edge, all.global);
    if (ends.first < 0 || ends.second < 0) {
      ++all.unplaced;
      continue;
    }
    RankPath& path = all.pairs[ends];
    path.classes.insert(transport_class(*edge.path));
    path.channels |= edge.channels;
    texts[ends].insert(edge.path->text);
    for (const int rank : {ends.first, ends.second}) {
      const auto host = hosts.find(rank);
      all.hosts.try_emplace(rank, host == hosts.end() ? std::string() : host->second);
    }
  }
  for (const auto& [ends, own] : texts) {
    all.pairs[ends].text = *own.begin();
    all.pairs[ends].paths = own.size();
  }
  return all;
}

TransportMatrix transport_matrix(const RankPaths& paths) {
  TransportMatrix matrix{.ranks = paths.hosts.size()};
  matrix.by_host = matrix.ranks > TransportMatrix::kMaxRows;
  // Hosts in the order of their lowest ranks, which is how neighbours in a job are numbered.
  std::map<std::string, size_t> rows;
  std::map<int, size_t> row_of_rank;
  for (const auto& [rank, host] : paths.hosts) {
    const std::string name = !matrix.by_host ? std::to_string(rank)
                             : host.empty()  ? "unknown host"
                                             : host;
    const auto [row, is_new] = rows.try_emplace(name, matrix.names.size());
    if (is_new) matrix.names.push_back(name);
    row_of_rank[rank] = row->second;
  }
  for (const auto& [ends, path] : paths.pairs) {
    const auto [cell, is_new] =
        matrix.cells.try_emplace({row_of_rank[ends.first], row_of_rank[ends.second]}, path);
    RankPath& shown = cell->second;
    if (is_new) {
      shown.detail =
          fmt::format("rank {} to rank {}: {}{} on channels {}", ends.first, ends.second, path.text,
                      path.paths > 1 ? " and " + plural(path.paths - 1, "more path") : "",
                      channels_text(path.channels));
      continue;
    }
    shown.classes.insert(path.classes.begin(), path.classes.end());
    shown.detail.clear();
    ++shown.pairs;
  }
  return matrix;
}

}  // namespace ncclog
