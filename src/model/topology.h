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

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  double max_bw = -1;             ///< GB/s of one GPU's best link.
  double total_bw = -1;           ///< GB/s of all of one GPU's links.
  std::vector<SystemNode> nodes;  ///< No name twice; no node is above itself.
  std::vector<SystemLink> links;
  std::vector<SystemPath> paths;
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

  bool operator==(const HostTopology&) const = default;
};

/// Takes the lines of one section apart. What does not fit is left out and `cut` is set.
SystemTopology parse_system(const BoundedLines& lines);

/// Adds the nodes, links and paths of `other` that `topology` does not have.
void add_system(SystemTopology& topology, const SystemTopology& other);

}  // namespace ncclog
