// What is drawn: rings and trees of ranks, devices of a host. One value for all ways to draw it:
// SVG (report/html/graph_svg.h), the DOT language of Graphviz, pages.
//
//   ring:  0 → 1 → 2 → 3 → 0      tree, root at the left:  CPU/0 ─ PCI/0-90000 ─┬ GPU/0-a1000
//                                                                               └ NET/0-0
//
// A graph holds at most kMaxNodes nodes; what was left out or folded is said in its remarks.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "report/graph/rank_paths.h"

namespace ncclog {

/// A ring's nodes are joined to the next one, the last to the first; a tree's to their parents.
enum class GraphShape { Ring, Tree };

struct GraphNode {
  std::string label;   ///< "3", "GPU/0-a1000"; may hold any bytes, as all texts here.
  std::string detail;  ///< In a sentence, for those who ask; may be empty.
  int group = -1;      ///< Into Graph::groups; -1: none.
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
  GraphShape shape = GraphShape::Tree;
  bool closed = true;               ///< Of a ring: the last node is joined to the first.
  std::vector<std::string> groups;  ///< Hosts; empty: unknown. Nodes of a group stand together.
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

/// A kind of drawing: the same name as the table of `ncclog show` that tells it in words.
struct DrawingKind {
  std::string_view name;
  Drawing (*build)(const Job& job, size_t most);
};

/// The kind of that name; nullptr if there is none.
const DrawingKind* find_drawing_kind(std::string_view name);

/// Rings and trees of the communicators, `most` graphs at most.
Drawing channels_drawing(const Job& job, size_t most);

/// Devices of the hosts, those that are alike once, `most` graphs at most.
Drawing topology_drawing(const Job& job, size_t most);

/// A file in the DOT language with all graphs, each a cluster, hosts as clusters inside. Any bytes
/// of names stay inside quotes.
std::string write_dot(const Drawing& drawing);

}  // namespace ncclog
