// A machine as NCCL sees it: what hangs on what, how fast, and how far devices are from each other.
//
//   CPU/0-0 (1/1/2)
//   + PCI[48.0] - PCI/0-90000 (1000c0301000ffff)
//                 + PCI[48.0] - GPU/0-a1000 (3)
//                               + NVL[240.0] - NVS/0-0
//   GPU/0-a1000 :GPU/0-a1000 (0/5000.0/LOC) GPU/0-c1000 (2/240.0/NVL) CPU/0-0 (2/48.0/PHB)
//
// Comes from the log (subsystem GRAPH, graph/topo.cc and graph/paths.cc) or from a topology file
// (import/topology_xml.cc). Nodes are named as the log names them from 2.23.4 on: kind, then
// "<system>-<local>" in lower-case hexadecimal, where the system counts the hosts of an NVLink
// domain and the local part of a GPU is its bus id. Older releases print no system: it is 0.
//
// The rings and trees that NCCL lays over machines follow below, as graphs of a communicator.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/compact.h"
#include "model/init_section.h"

namespace ncclog {

/// Name of a node.
struct NodeName {
  std::string kind;     ///< "CPU", "PCI", "GPU", "NVS", "NIC", "NET", "GIN", "RMA", "DEV", "CXB".
  uint64_t system = 0;  ///< Host inside an NVLink domain.
  uint64_t local = 0;   ///< Bus id of a GPU or switch, number of a NET or CPU.

  auto operator<=>(const NodeName&) const = default;
};

/// "GPU/0-a1000"; up to 2.22 "GPU/A1000". nullopt if `text` is anything else.
std::optional<NodeName> parse_node_name(std::string_view text);

/// "GPU/0-a1000".
std::string to_string(const NodeName& name);

/// One device or bus.
struct SystemNode {
  NodeName name;
  int parent = -1;     ///< Into the topology's nodes; -1: at the top, or not known.
  std::string link;    ///< What it hangs on the parent by: "PCI", "NET", "LOC"; empty at the top.
  double bw = -1;      ///< GB/s of that link; -1: unknown.
  int rank = -1;       ///< Of a GPU: its rank in the communicator that printed the topology.
  int dev = -1;        ///< Of a GPU: NVML index; of a NET: number. Only from topology files.
  std::string detail;  ///< What stands in brackets, or the attributes of a file that matter here.
  std::string device;  ///< Of a NET: name of the device, "mlx5_0"; empty: unknown.
  double speed = -1;   ///< Of a NET: GB/s; -1: unknown.

  bool operator==(const SystemNode&) const = default;
};

/// A link that is not the way to the parent: NVLink, the links between CPUs.
struct SystemLink {
  int from = -1;  ///< Into the topology's nodes.
  int to = -1;
  std::string type;  ///< "NVL", "C2C", "SYS", "QPI".
  double bw = -1;    ///< GB/s.

  bool operator==(const SystemLink&) const = default;
};

/// The best path between two nodes.
struct SystemPath {
  int from = -1;  ///< Into the topology's nodes.
  int to = -1;
  int hops = -1;
  double bw = -1;    ///< GB/s; 5000 is "the same device".
  std::string type;  ///< "NVL", "PIX", "PHB", "SYS" …; a number in 2.5.

  bool operator==(const SystemPath&) const = default;
};

struct SystemTopology {
  double max_bw = -1;              ///< GB/s of one GPU's best link.
  double total_bw = -1;            ///< GB/s of all of one GPU's links.
  std::vector<SystemNode> nodes;   ///< No name twice; no node is above itself.
  SharedVector<SystemLink> links;  ///< Hosts that are alike share them, like
  SharedVector<SystemPath> paths;
  bool cut = false;  ///< Lines are missing, or did not fit each other.

  bool operator==(const SystemTopology&) const = default;
};

/// A host's devices, put together from all that its processes print, or from a topology file.
struct HostTopology {
  std::string host;    ///< Empty: a file that does not say whose it is.
  std::string source;  ///< Path of the topology file; empty: the log.
  SystemTopology system;
  /// By node: global rank of the process that uses the GPU; -1: not a GPU, or unknown.
  std::vector<int> ranks;
};

/// Takes the lines of one section apart. What does not fit is left out and `cut` is set.
SystemTopology parse_system(const BoundedLines& lines);

/// Adds the nodes, links and paths of `other` that `topology` does not have; of all hosts of an
/// NVLink domain, or of that one `only`.
void add_system(SystemTopology& topology, const SystemTopology& other,
                std::optional<uint64_t> only = {});

// The rings and trees of a communicator as graphs, and whether they are what they have to be.
//
//   Channel 00/24 : 0 1 2 3                    rank 0 lists the ring
//   Ring 00 : 3 -> 0 -> 1                      every rank names its neighbours
//   Trees [0] 1/-1/-1->0->-1 [1] …             children -> rank -> parent, every rank
//
// A ring is sound if it is closed and passes every rank once, a tree if it has one root, no cycle
// and both ends of every edge name each other. A graph is called broken only where whole lines
// contradict that; where ranks are not seen or a list is cut, nothing is known.

enum class GraphCheck { Unknown, Sound, Broken };

/// "unknown", "sound", "broken".
constexpr std::string_view enum_words(GraphCheck) { return "unknown|sound|broken"; }

/// A ring, with all channels that use it.
struct Ring {
  uint64_t channels = 0;   ///< Bit c: channel c.
  std::vector<int> order;  ///< Ranks from rank 0 on, as far as they are known without a gap.
  GraphCheck check = GraphCheck::Unknown;
  std::string remark;  ///< What is wrong or missing; empty for a sound ring.

  bool operator==(const Ring&) const = default;
};

/// A tree, with all channels that use it.
struct Tree {
  uint64_t channels = 0;     ///< Bit c: channel c.
  std::vector<int> parents;  ///< By rank: -1 at the root, kUnseen where no line tells.
  int root = -1;             ///< -1: not known.
  int depth = -1;            ///< Edges from the root to the deepest rank; -1 unless sound.
  GraphCheck check = GraphCheck::Unknown;
  std::string remark;  ///< What is wrong or missing; empty for a sound tree.

  static constexpr int kUnseen = -2;

  bool operator==(const Tree&) const = default;
};

/// A search for channels that several ranks made with the same result.
struct GraphSearch {
  SearchedGraph graph;     ///< Members as the lowest of the ranks lists them.
  std::vector<int> ranks;  ///< Sorted.
};

/// Latency and bandwidth that NCCL expects of an operation.
struct TuningCell {
  std::string function;   ///< "AllReduce".
  std::string algorithm;  ///< "Tree", "Ring", "CollNetDirect", …
  std::string protocol;   ///< "LL", "LL128", "Simple".
  double latency_us = -1;
  double bw = -1;  ///< GB/s; 0: disabled.

  bool operator==(const TuningCell&) const = default;
};

/// What a communicator's ranks say about its graphs while they initialise it.
struct CommGraphs {
  std::vector<Ring> rings;  ///< By first channel.
  std::vector<Tree> trees;  ///< By first channel.
  std::vector<GraphSearch> searches;
  std::vector<TuningCell> tuning;  ///< As rank 0 prints it.
  ChannelNumbers channels;         ///< As the lowest rank that prints them.
};

/// What one rank says about a communicator.
struct RankSays {
  int rank = -1;
  const InitSection* section = nullptr;  ///< Never nullptr.
};

/// Puts together what the ranks of a communicator of `nranks` say (-1: size unknown). `sayings` are
/// sorted by rank. With `torn`, lines may hold other processes' numbers: nothing is called broken.
CommGraphs build_comm_graphs(int nranks, const std::vector<RankSays>& sayings, bool torn);

/// A rank's place in the tree of a channel.
struct TreePlace {
  int channel = -1;
  int rank = -1;
  int up = -1;            ///< -1: it is the root.
  std::vector<int> down;  ///< Without the -1 of unused places.

  bool operator==(const TreePlace&) const = default;
};

/// The places in a Trees line, of any release; what does not fit ends the list. In 2.5 to 2.7,
/// which print two directions, the one upwards. `cut`: the last one may be incomplete.
std::vector<TreePlace> parse_trees(std::string_view text, bool cut);

/// The cells of the tables that `rows` hold, in their order; rows that do not fit are left out.
std::vector<TuningCell> parse_tuning(const BoundedLines& rows);

// Is what the ranks say about one channel's ring or tree a ring or a tree?

/// What is said about the ring of one channel. Ranks that nobody names stay -1.
struct RingSayings {
  std::vector<int> listed;  ///< As rank 0 lists them; empty: no list.
  bool listed_whole = false;
  bool contradictory = false;  ///< One line says one thing, another one of the same rank another.
  std::vector<int> prev;       ///< By rank.
  std::vector<int> next;       ///< By rank.
};

/// The ring of a communicator of as many ranks as `prev` and `next` have places.
Ring check_ring(const RingSayings& says);

/// The tree of a communicator of as many ranks as `places` has entries; an entry whose rank is -1
/// was not seen.
Tree check_tree(const std::vector<TreePlace>& places);

}  // namespace ncclog
