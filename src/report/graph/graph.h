// What is drawn: rings and trees of ranks, devices of a host. One value for both ways to draw it:
// files of SVG and pages (report/html/figures.h).
//
//   ring:  0 → 1 → 2 → 3 → 0      tree, root at the left:  CPU/0 ─ PCI/0-90000 ─┬ GPU/0-a1000
//                                                                               └ NET/0-0
//
// A graph holds at most kMaxNodes nodes; what was left out or folded is said in its remarks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"

namespace ncclog {

// Over which paths does each pair of ranks reach each other, of which class are they, and how do
// they look as a matrix?
//
//   gpu-a:41:60 [7] NCCL INFO Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3/GDRDMA
//   → (7, 8): NET/IB/3/GDRDMA, class IB, channel 0
//
// A line numbers ranks within its communicator. With one communicator those are the ranks; with
// several, only connections count whose two processes are certain, under their global ranks.

// How two ranks reach each other, in the few classes that a drawing can tell apart.
//
//   "P2P/CUMEM" → P2P, letter P        "NET/Socket/0" → Socket, letter T
//   "SHM/direct/direct" → SHM, S       "NET/IB/3/GDRDMA" → IB, I

enum class TransportClass : uint8_t { P2P, SHM, IB, Socket, OtherNet, Other };

/// What is written about a class. `letter` is its own, so that nobody has to tell colours apart.
struct TransportClassRow {
  TransportClass value;
  char letter;
  std::string_view name;  ///< "NET/IB".
  std::string_view help;  ///< "RDMA network".
  std::string_view css;   ///< Class in the style sheet of pages and drawings.
};

/// All classes, indexed by value.
inline constexpr TransportClassRow kTransportClasses[] = {
    {TransportClass::P2P, 'P', "P2P", "GPU to GPU, over NVLink or PCIe", "tp"},
    {TransportClass::SHM, 'S', "SHM", "through the host's memory", "ts"},
    {TransportClass::IB, 'I', "NET/IB", "RDMA: InfiniBand or RoCE", "ti"},
    {TransportClass::Socket, 'T', "NET/Socket", "TCP", "tt"},
    {TransportClass::OtherNet, 'N', "NET", "another network plugin", "tn"},
    {TransportClass::Other, 'O', "other", "CollNet and others", "to"},
};

constexpr const TransportClassRow& row_of(TransportClass value) {
  return kTransportClasses[static_cast<size_t>(value)];
}

/// All connections from one rank to another; or, where those are folded, from one host to another.
struct RankPath {
  std::set<TransportClass> classes;
  std::string text;       ///< As printed, of the first by name.
  size_t paths = 0;       ///< Different ones.
  uint64_t channels = 0;  ///< Bit c: channel c.
  /// Of a matrix: "rank 0 to rank 1: NET/IB/0 and 3 more paths on channels 0-15"; empty for several pairs.
  std::string detail;
  size_t pairs = 1;  ///< Of ranks that are connected.
};

struct RankPaths {
  std::map<std::pair<int, int>, RankPath> pairs;  ///< By (from, to).
  std::map<int, std::string> hosts;  ///< Of ranks that appear in pairs; empty: unknown.
  size_t unplaced = 0;               ///< Connections whose ends are not certain.
  size_t torn = 0;                   ///< Connections of torn processes, left out as unsure.
  bool global = false;               ///< Ranks are global ones; else those of one communicator.
};

RankPaths rank_paths(const Job& job);

// From each rank to each other one: over which transport?
//
//        0 1 2 3        rank × rank where there are up to 64 ranks, else host × host
//     0  . P . .
//     1  . . P .

struct TransportMatrix {
  std::vector<std::string> names;                       ///< Of rows and columns: "3", "node-a".
  std::map<std::pair<size_t, size_t>, RankPath> cells;  ///< By (row, column): from, to.
  size_t ranks = 0;                                     ///< Before folding.
  bool by_host = false;                                 ///< Rows are hosts; else ranks.

  static constexpr size_t kMaxRows = 64;  ///< That are drawn; there may be more hosts.
};

TransportMatrix transport_matrix(const RankPaths& paths);

// What is drawn.

struct GraphNode {
  std::string label;   ///< "3", "GPU/0-a1000"; may hold any bytes, as all texts here.
  std::string detail;  ///< In a sentence, for those who ask; may be empty.
  std::string host;    ///< Of a ring: what neighbours of one host stand below; empty: nothing.
  int parent = -1;     ///< Of a tree: into Graph::nodes, always before the node; -1: a root.
  std::string link;    ///< The way to the next node or to the parent: "P2P/CUMEM", "PCI 48.0".
  std::optional<TransportClass> transport;  ///< Of that way, where it is known.
};

/// A line besides those of the shape: NVLink, the links between CPUs.
struct GraphLink {
  int from = -1;  ///< Into Graph::nodes.
  int to = -1;
  std::string label;  ///< "NVL 370.8".
};

struct Graph {
  std::string title;
  /// A ring's nodes are joined to the next one, the last to the first; a tree's to their parents.
  bool is_ring = false;
  bool closed = true;  ///< Of a ring: the last node is joined to the first.
  std::vector<GraphNode> nodes;
  std::vector<GraphLink> links;
  std::vector<std::string> remarks;

  static constexpr size_t kMaxNodes = 64;
};

/// Several graphs, and what is said about all of them.
struct Drawing {
  std::string title;
  std::vector<Graph> graphs;
  std::vector<std::string> notes;
};

/// A graph in words, for where nothing is drawn: a ring as "0 → 1 → 2 → 0", a tree line by line,
/// each node below the one that it hangs on.
std::vector<std::string> graph_lines(const Graph& graph);

/// Draws `most` graphs at most.
using DrawGraphs = Drawing(const Job& job, size_t most);

/// The drawing of that name, which is that of the table of `ncclog show` that tells it in words;
/// nullptr: there is none.
DrawGraphs* find_drawing(std::string_view name);

/// Rings and trees of the communicators, `most` graphs at most.
Drawing channels_drawing(const Job& job, size_t most);

/// Devices of the hosts, those that are alike once, `most` graphs at most.
Drawing topology_drawing(const Job& job, size_t most);

/// Places of a host's devices, those below one right behind it. No recursion: torn lines may nest
/// any depth.
std::vector<size_t> nodes_in_order(const SystemTopology& system);

/// "PCI 48.0"; GB/s.
std::string link_text(std::string_view type, double bw);

}  // namespace ncclog
