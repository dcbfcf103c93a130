// Tables of what is connected: channels, connections as each end announces them, devices and
// graphs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "diagnose/network/connections.h"
#include "report/graph/graph.h"
#include "report/tables/tables.h"

namespace ncclog {

// Over which paths do the ranks reach each other?
//
//   src_rank  dst_rank  transport  path           channels  which
//          0         1  P2P        P2P/CUMEM            24  0-23
//
// Both ends of a network path announce it, and every process numbers ranks within its own
// communicators: the same (from, to, path) said by several processes is one row.

Table channels_table(const Job& job) {
  std::map<ConnectionKey, ConnectionUse> uses;
  std::map<ConnectionKey, std::set<std::string>> hosts;  // That announce it.
  uint64_t dropped = 0;
  for (const SpeakerLog& log : job.logs) {
    dropped += log.connections.other;
    for (const auto& [key, use] : log.connections.all) {
      uses[key].channels |= use.channels;
      if (!log.speaker.host.empty()) hosts[key].insert(log.speaker.host);
    }
  }
  Table table = table_of("channels");
  std::map<Transport, uint64_t> totals;
  for (const auto& [key, use] : uses) {
    const Transport transport = transport_of(key.path);
    ++totals[transport];
    table.add(key.src_rank, key.dst_rank, to_string(transport), key.path, channel_count(use),
              channels_text(use.channels), fmt::format("{}", fmt::join(hosts[key], " ")));
  }
  for (const auto& [transport, n] : totals) {
    table.notes.push_back(fmt::format("{}: {}.", to_string(transport), plural(n, "connection")));
  }
  if (dropped > 0) {
    table.notes.push_back(fmt::format("{} more lines about connections were not kept.", dropped));
  }
  if (table.rows.empty()) {
    table.notes.push_back(
        "No line announces a connection. Set NCCL_DEBUG=INFO with INIT among NCCL_DEBUG_SUBSYS.");
  }
  return table;
}

// Each connection as the process at one of its ends announces it.
//
//   host   rank  direction  src_rank  dst_rank  peer_host  reach       transport  network  path
//   gpu-a     7  send              7         8  gpu-b      other_host  NET        IB       NET/IB/3
//
// Where `show channels` joins what both ends say, this keeps who said it, and in columns what the
// path says.

void each_connection_row(const Report& report, const RowTaker& take) {
  const Job& job = report.job;
  for (const Edge& edge : edges_of(job)) {
    const PathParts& path = *edge.path;
    const Process& own = process_at(job, edge.process);
    const Process& peer = process_at(job, edge.peer);
    const std::string_view reach = edge.reach == EdgeReach::SameHost    ? "same_host"
                                   : edge.reach == EdgeReach::OtherHost ? "other_host"
                                                                        : "";
    if (!take(cells(own.host, own.pid, own.rank, edge.sends ? "send" : "receive", edge.src_rank,
                    edge.dst_rank, peer.host, peer.pid, peer.rank, reach, to_string(path.transport),
                    path.network, path.device, path.proxy_rank, path.gpudirect ? 1 : 0, path.text,
                    std::popcount(edge.channels), channels_text(edge.channels),
                    place_name(job, edge.where))))
      return;
  }
}

// What hangs on what in each host, and over which graphs does each communicator move data?
//
//   of           part  name       rank  on         link       detail
//   gpu-node-01  GPU   GPU/0-60      0  CPU/0-0    PCI 48.0
//   gpu-node-01  NVL   GPU/0-60         NVS/0-0    NVL 370.8
//   gpu-node-01  path  GPU/0-60                    NVL 370.8  2 hops: GPU/0-70 GPU/0-80 GPU/0-90
//   0x7790e3…    ring  0-23                                   sound: 0 1 2 3

namespace {

std::string_view word_at(std::string_view number, std::span<const std::string_view> words) {
  const auto index = parse_int(number);
  const bool known = index && *index > 0 && static_cast<size_t>(*index) < words.size();
  return known ? words[*index] : std::string_view();
}

/// "1/2/4": architecture, vendor and model as NCCL's topology numbers them.
std::string cpu_text(std::string_view detail) {
  static constexpr std::string_view kArchitectures[] = {"", "x86", "POWER", "ARM", "mixed"};
  static constexpr std::string_view kVendors[] = {"", "Intel", "AMD", "Zhaoxin", "mixed vendors"};
  const auto parts = split(detail, '/');
  if (parts.size() != 3) return std::string(detail);
  const std::string_view architecture = word_at(parts[0], kArchitectures);
  const std::string_view vendor = word_at(parts[1], kVendors);
  if (architecture.empty()) return std::string(detail);
  return fmt::format("{}{}{}, model {}", architecture, vendor.empty() ? "" : " ", vendor, parts[2]);
}

/// Both parts with a separator between them, if there are both.
std::string both(std::string first, std::string_view separator, const std::string& second) {
  if (!first.empty() && !second.empty()) first += separator;
  return first + second;
}

std::string net_text(const SystemNode& node) {
  const std::string speed = node.speed < 0 ? "" : fmt::format("{:.2f} GB/s", node.speed);
  // Without a blank it is what NCCL prints in brackets: internal numbers, and the speed again.
  const bool internal = node.detail.find(' ') == node.detail.npos;
  return both(both(node.device, ", ", speed), ", ", internal ? "" : node.detail);
}

std::string gpu_text(const SystemNode& node) {
  // The bracket of a GPU in a log is its rank in some communicator.
  const std::string detail = parse_int(node.detail) ? "" : node.detail;
  return both(node.dev < 0 ? "" : fmt::format("NVML {}", node.dev), ", ", detail);
}

std::string detail_of(const SystemNode& node) {
  if (node.name.kind == "CPU") return cpu_text(node.detail);
  if (node.name.kind == "NET") return net_text(node);
  if (node.name.kind == "GPU") return gpu_text(node);
  return node.detail;
}

std::string owner_of(const HostTopology& topology) {
  return topology.source.empty() ? topology.host : topology.source;
}

void add_nodes(const HostTopology& topology, Table& table) {
  const auto& nodes = topology.system.nodes;
  for (const size_t n : nodes_in_order(topology.system)) {
    const int parent = nodes[n].parent;
    const std::string on = parent < 0 ? "" : to_string(nodes[parent].name);
    table.add(owner_of(topology), nodes[n].name.kind, to_string(nodes[n].name), topology.ranks[n],
              on, link_text(nodes[n].link, nodes[n].bw), "", detail_of(nodes[n]));
  }
}

void add_links(const HostTopology& topology, Table& table) {
  const auto name = [&](int node) { return to_string(topology.system.nodes[node].name); };
  for (const SystemLink& link : topology.system.links) {
    table.add(owner_of(topology), link.type, name(link.from), -1, name(link.to),
              link_text(link.type, link.bw), "", "");
  }
}

/// What a GPU reaches, one row for each kind of path.
void add_paths(const HostTopology& topology, Table& table) {
  using Key = std::tuple<int, int, double, std::string>;  // From, hops, minus bandwidth, type.
  std::map<Key, std::vector<std::string>> reached;
  for (const SystemPath& path : topology.system.paths) {
    if (topology.system.nodes[path.from].name.kind != "GPU") continue;
    reached[{path.from, path.hops, -path.bw, path.type}].push_back(
        to_string(topology.system.nodes[path.to].name));
  }
  for (const auto& [key, nodes] : reached) {
    const auto& [from, hops, bw, type] = key;
    table.add(owner_of(topology), "path", to_string(topology.system.nodes[from].name), -1, "",
              link_text(type, -bw), "",
              fmt::format("{}: {}", plural(static_cast<uint64_t>(std::max(0, hops)), "hop"),
                          join(nodes, " ")));
  }
}

std::string_view pattern_name(int pattern) {
  static constexpr std::string_view kNames[] = {"",     "balanced tree", "split tree",    "tree",
                                                "ring", "NVLS",          "CollNet direct"};
  const bool known = pattern > 0 && pattern < static_cast<int>(std::size(kNames));
  return known ? kNames[pattern] : "search";
}

/// "30.000000/30.000000" → "30.0/30.0".
std::string short_numbers(std::string_view bw) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(bw, '/')) {
    const auto number = parse_decimal(part);
    parts.push_back(number ? fmt::format("{:.1f}", *number) : std::string(part));
  }
  return join(parts, "/");
}

void add_searches(const Communicator& comm, Table& table) {
  for (const GraphSearch& search : comm.graphs.searches) {
    const SearchedGraph& graph = search.graph;
    const std::string channels =
        graph.channels == 0 ? "not possible"
                            : plural(static_cast<uint64_t>(std::max(0, graph.channels)), "channel");
    std::string detail = fmt::format("{}, {} GB/s, ranks {}", channels, short_numbers(graph.bw),
                                     ranges_text(search.ranks));
    for (const auto& [members, mask] : graph.members.all) {
      detail += fmt::format("; {}: {}", channels_text(mask.bits), members);
    }
    table.add(comm.id, "search", pattern_name(graph.pattern), -1, "", graph.type, "", detail);
  }
}

void add_graphs(const Communicator& comm, Table& table) {
  for (const Ring& ring : comm.graphs.rings) {
    table.add(comm.id, "ring", channels_text(ring.channels), -1, "", "", to_string(ring.check),
              both(ring.remark, "; ", fmt::format("{}", fmt::join(ring.order, " "))));
  }
  for (const Tree& tree : comm.graphs.trees) {
    std::string shape = tree.root < 0 ? "" : fmt::format("root {}", tree.root);
    if (tree.depth >= 0) shape += fmt::format(", depth {}", tree.depth);
    table.add(comm.id, "tree", channels_text(tree.channels), -1, "", "", to_string(tree.check),
              both(tree.remark, "; ", shape));
  }
}

void add_origin(const Job& job, const Communicator& comm, Table& table) {
  if (comm.is_child) {
    const std::string child = comm.child_count < 0 ? "" : fmt::format("child {}", comm.child_count);
    const std::string color = comm.color < 0 ? "" : fmt::format("color {}", comm.color);
    table.add(comm.id, "split", "", -1, parent_id(job, comm), "", "", both(child, ", ", color));
  }
  const ChannelNumbers& channels = comm.graphs.channels;
  if (channels.coll >= 0) {
    table.add(comm.id, "channels", "", -1, "", "", "",
              fmt::format("{} coll, {} nvls, {} p2p, {} p2p per peer", channels.coll,
                          std::max(0, channels.nvls), channels.p2p, channels.p2p_per_peer));
  }
  if (comm.mnnvl == 1) {
    table.add(comm.id, "MNNVL", "", -1, "", "", "", "NVLink reaches over several nodes");
  }
}

/// What NCCL expects of each operation: latency and bandwidth by algorithm and protocol.
void add_tuning(const Communicator& comm, Table& table) {
  std::map<std::string, std::string> by_function;
  for (const TuningCell& cell : comm.graphs.tuning) {
    std::string& text = by_function[cell.function];
    text = both(text, "; ",
                fmt::format("{} {} {:.1f} us {:.1f} GB/s", cell.algorithm, cell.protocol,
                            cell.latency_us, cell.bw));
  }
  for (const auto& [function, text] : by_function) {
    table.add(comm.id, "tuning", function, -1, "", "", "", text);
  }
}

/// How operations were run, over all processes that print it.
void add_choices(const Job& job, Table& table) {
  TuningUses tuning;
  for (const SpeakerLog& log : job.logs) tuning.merge(*log.tuning);
  for (const auto& [key, use] : tuning.all) {
    table.add("", "choice", key.function, -1, "", both(key.algorithm, " ", key.protocol), "",
              fmt::format("{} of {} to {} bytes", plural(use.count, "time"), use.min_bytes,
                          use.max_bytes));
  }
}

void add_processes(const Job& job, Table& table) {
  for (const Process& process : job.processes) {
    AllocTotals allocations;
    for (const size_t log : process.logs) allocations.merge(*job.logs[log].allocations);
    const std::string name = process.pid < 0 ? "" : fmt::format("pid {}", process.pid);
    for (const auto& [what, total] : allocations.all) {
      table.add(process.host, "memory", name, process.rank, "", "", "",
                fmt::format("{}: {}, {} bytes", what, plural(total.count, "time"), total.bytes));
    }
    if (process.nvls >= 0) {
      table.add(process.host, "NVLS", name, process.rank, "", "", "",
                process.nvls == 1 ? "available" : "not available");
    }
  }
}

}  // namespace

Table topology_table(const Job& job) {
  Table table = table_of("topology");
  for (const HostTopology& topology : job.topologies) {
    add_nodes(topology, table);
    add_links(topology, table);
    add_paths(topology, table);
  }
  for (const Communicator& comm : job.communicators) {
    add_origin(job, comm, table);
    add_searches(comm, table);
    add_graphs(comm, table);
    add_tuning(comm, table);
  }
  add_choices(job, table);
  add_processes(job, table);
  bool cut = false;
  for (const HostTopology& topology : job.topologies) {
    cut |= topology.system.cut;
    if (topology.source.empty() || topology.host.empty()) continue;
    table.notes.push_back(fmt::format("{} names {}.", topology.source, topology.host));
  }
  if (cut) {
    table.notes.push_back(
        "Parts of a topology are missing: NCCL cuts long lines, and lines may be torn.");
  }
  if (job.topologies.empty()) {
    table.notes.push_back(
        "No process prints its host's devices. Set NCCL_DEBUG=INFO with GRAPH among "
        "NCCL_DEBUG_SUBSYS, or add the file that NCCL_TOPO_DUMP_FILE names.");
  }
  return table;
}

}  // namespace ncclog
