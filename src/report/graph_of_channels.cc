// The rings and trees of communicators as graphs. Of more ranks than a graph may have nodes, those
// that follow each other on one host become one node.
//
//   Channel 00/24 : 0 1 2 3 8 9 10 11   →   node-a: 0-3 → node-b: 8-11 → node-a

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "report/graph.h"
#include "report/rank_paths.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

/// A rank on its way into a graph, before anything is folded.
struct Member {
  int rank = -1;
  int parent = -1;  ///< Of a tree: into the list of members; -1: a root.
  std::string host;
};

/// Members that follow each other on one host, or a single one.
struct Region {
  std::vector<int> members;  ///< Into the list of members, the first is the one nearest the root.
  int parent = -1;           ///< Into the list of regions.
};

class ChannelGraphs {
 public:
  ChannelGraphs(const Job& job, const Communicator& comm, const RankPaths& paths)
      : job_(job), comm_(comm), paths_(paths) {}

  Graph ring(const Ring& ring) const {
    std::vector<Member> members;
    for (const int rank : ring.order) {
      members.push_back({rank, static_cast<int>(members.size()) - 1, host_of(rank)});
    }
    Graph graph = make_graph(GraphShape::Ring, "ring", ring.channels, ring.check, ring.remark);
    graph.closed = ring.check == GraphCheck::Sound;
    add_nodes(members, graph);
    return graph;
  }

  Graph tree(const Tree& tree) const {
    Graph graph = make_graph(GraphShape::Tree, "tree", tree.channels, tree.check, tree.remark);
    add_nodes(members_of(tree), graph);
    return graph;
  }

 private:
  static bool folded(const std::vector<Member>& members) {
    return members.size() > Graph::kMaxNodes;
  }

  const Process* process_of(int rank) const {
    const auto found =
        std::lower_bound(comm_.ranks.begin(), comm_.ranks.end(), rank,
                         [](const CommRank& member, int value) { return member.rank < value; });
    const bool there = found != comm_.ranks.end() && found->rank == rank && found->process >= 0;
    return there ? &job_.processes[static_cast<size_t>(found->process)] : nullptr;
  }

  std::string host_of(int rank) const {
    const Process* process = process_of(rank);
    return process == nullptr ? std::string() : process->host;
  }

  Graph make_graph(GraphShape shape, std::string_view word, uint64_t channels, GraphCheck check,
                   const std::string& remark) const {
    Graph graph{.shape = shape};
    const bool one = (channels & (channels - 1)) == 0;
    graph.title = fmt::format("Communicator {}: {} of channel{} {}", comm_.id, word, one ? "" : "s",
                              channels_text(channels));
    if (check == GraphCheck::Broken) graph.remarks.push_back("Broken: " + remark + ".");
    if (check == GraphCheck::Unknown) {
      graph.remarks.push_back(remark.empty() ? "The log does not tell all of it."
                                             : "Not known to its end: " + remark + ".");
    }
    return graph;
  }

  /// Ranks of the tree, parents before children; those that no line places are left out.
  std::vector<Member> members_of(const Tree& tree) const {
    std::map<int, std::vector<int>> below;
    std::vector<std::pair<int, int>> open;  // Rank and place of its parent; the next one last.
    for (size_t rank = tree.parents.size(); rank-- > 0;) {
      const int parent = tree.parents[rank];
      if (parent == -1) open.emplace_back(static_cast<int>(rank), -1);
      if (parent >= 0) below[parent].push_back(static_cast<int>(rank));
    }
    std::vector<Member> members;
    while (!open.empty()) {
      const auto [rank, parent] = open.back();
      open.pop_back();
      members.push_back({rank, parent, host_of(rank)});
      const int place = static_cast<int>(members.size()) - 1;
      for (const int child : below[rank]) open.emplace_back(child, place);
    }
    return members;
  }

  /// One region a member, or with too many of them one for all that hang together on one host.
  static std::vector<Region> regions_of(const std::vector<Member>& members) {
    std::vector<Region> regions;
    std::vector<int> region_of(members.size(), -1);
    for (size_t m = 0; m < members.size(); ++m) {
      const int above = members[m].parent;
      const bool joins = folded(members) && above >= 0 && !members[m].host.empty() &&
                         members[static_cast<size_t>(above)].host == members[m].host;
      const int parent = above < 0 ? -1 : region_of[static_cast<size_t>(above)];
      region_of[m] = joins ? parent : static_cast<int>(regions.size());
      if (!joins) regions.push_back({.members = {}, .parent = parent});
      regions[static_cast<size_t>(region_of[m])].members.push_back(static_cast<int>(m));
    }
    return regions;
  }

  void add_nodes(const std::vector<Member>& members, Graph& graph) const {
    const std::vector<Region> regions = regions_of(members);
    for (const Region& region : regions) {
      if (graph.nodes.size() == Graph::kMaxNodes) break;
      graph.nodes.push_back(node_of(members, region, graph.shape));
    }
    if (!folded(members)) add_groups(members, graph);
    say_what_is_missing(members, regions, graph);
    set_ways(members, regions, graph);
  }

  /// Hosts as groups. The nodes of a tree stand where the tree wants them, so they name theirs.
  static void add_groups(const std::vector<Member>& members, Graph& graph) {
    std::map<std::string, int> groups;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const auto [group, is_new] =
          groups.try_emplace(members[n].host, static_cast<int>(groups.size()));
      if (is_new) graph.groups.push_back(members[n].host);
      graph.nodes[n].group = group->second;
    }
    if (graph.shape != GraphShape::Tree || groups.size() < 2) return;
    for (size_t n = 0; n < graph.nodes.size(); ++n) graph.nodes[n].label += " " + members[n].host;
  }

  /// "3"; of a folded graph "node-a: 0-7".
  GraphNode node_of(const std::vector<Member>& members, const Region& region,
                    GraphShape shape) const {
    const Member& first = members[static_cast<size_t>(region.members.front())];
    std::vector<int> ranks;
    for (const int m : region.members) ranks.push_back(members[static_cast<size_t>(m)].rank);
    const std::string numbers = ranges_text(ranks);
    GraphNode node{.label = numbers};
    if (folded(members) && !first.host.empty()) node.label = first.host + ": " + numbers;
    if (shape == GraphShape::Tree) node.parent = region.parent;
    node.detail = fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", numbers);
    if (!first.host.empty()) node.detail += ", " + first.host;
    const Process* process = process_of(first.rank);
    if (process != nullptr && process->pid >= 0 && ranks.size() == 1) {
      node.detail += fmt::format(", pid {}", process->pid);
    }
    return node;
  }

  /// How the last rank of a ring's node reaches the first of the next one; how the first of a
  /// tree's node and its parent reach each other.
  void set_ways(const std::vector<Member>& members, const std::vector<Region>& regions,
                Graph& graph) const {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (graph.shape == GraphShape::Tree) {
        const Member& first = members[static_cast<size_t>(regions[n].members.front())];
        if (first.parent < 0) continue;
        set_way(first.rank, members[static_cast<size_t>(first.parent)].rank, graph.nodes[n]);
        continue;
      }
      const bool last = n + 1 == graph.nodes.size();
      if (last && (!graph.closed || n == 0)) continue;
      const Region& next = regions[last ? 0 : n + 1];
      set_way(members[static_cast<size_t>(regions[n].members.back())].rank,
              members[static_cast<size_t>(next.members.front())].rank, graph.nodes[n]);
    }
  }

  /// A tree is used in both directions, and the log may tell of one only.
  void set_way(int from, int to, GraphNode& node) const {
    const int first = rank_in_paths(job_, paths_, comm_, from);
    const int second = rank_in_paths(job_, paths_, comm_, to);
    if (first < 0 || second < 0) return;
    auto found = paths_.pairs.find({first, second});
    if (found == paths_.pairs.end()) found = paths_.pairs.find({second, first});
    if (found == paths_.pairs.end()) return;
    node.link = found->second.text;
    if (found->second.classes.size() == 1) node.transport = *found->second.classes.begin();
  }

  static void say_what_is_missing(const std::vector<Member>& members,
                                  const std::vector<Region>& regions, Graph& graph) {
    if (folded(members)) {
      graph.remarks.push_back(fmt::format(
          "{} ranks: those that follow each other on one host share a box.", members.size()));
    }
    if (regions.size() > graph.nodes.size()) {
      graph.closed = false;
      graph.remarks.push_back(
          fmt::format("{} more boxes are left out.", regions.size() - graph.nodes.size()));
    }
  }

  const Job& job_;
  const Communicator& comm_;
  const RankPaths& paths_;
};

void add_graphs(const ChannelGraphs& graphs, const CommGraphs& from, size_t most, size_t& all,
                Drawing& drawing) {
  for (const Ring& ring : from.rings) {
    if (ring.order.empty()) continue;
    if (++all <= most) drawing.graphs.push_back(graphs.ring(ring));
  }
  for (const Tree& tree : from.trees) {
    if (tree.parents.empty()) continue;
    if (++all <= most) drawing.graphs.push_back(graphs.tree(tree));
  }
}

}  // namespace

Drawing channels_drawing(const Job& job, size_t most) {
  Drawing drawing{.title = "Rings and trees"};
  const RankPaths paths = rank_paths(job);
  size_t all = 0;
  for (const Communicator& comm : job.communicators) {
    add_graphs(ChannelGraphs(job, comm, paths), comm.graphs, most, all, drawing);
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

}  // namespace ncclog
