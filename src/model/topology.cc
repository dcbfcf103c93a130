#include "model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kKinds[] = {"CPU", "PCI", "GPU", "NVS", "NIC",
                                       "NET", "GIN", "RMA", "DEV", "CXB"};

double decimal_or_unknown(std::string_view text) { return parse_decimal(text).value_or(-1); }

/// The name and the detail of "GPU/0-a1000 (3) [MLOPart 1]".
std::optional<SystemNode> parse_node(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  const auto name = parse_node_name(text.substr(0, end));
  if (!name) return std::nullopt;
  std::string_view detail = trim(text.substr(end));
  const bool is_bracketed = detail.starts_with('(') && detail.find(')') + 1 == detail.size();
  if (is_bracketed) detail = detail.substr(1, detail.size() - 2);
  return SystemNode{.name = *name, .detail = std::string(detail)};
}

/// "3" and "(3) [MLOPart 1]" → 3.
int leading_number(std::string_view text) {
  if (text.starts_with('(')) text.remove_prefix(1);
  const auto number = parse_int(text.substr(0, text.find_first_not_of("0123456789")));
  return number ? static_cast<int>(std::min<int64_t>(*number, INT32_MAX)) : -1;
}

/// Puts a topology together. Invariant: `place` names every node of `topology`.
class SystemParser {
 public:
  void add(const IndentedLine& line) {
    const std::string_view text = line.text;
    if (text.starts_with("=")) return begin(text);
    const size_t colon = text.find(" :");
    if (add_link(line)) return;
    if (colon != text.npos) {
      add_paths(text.substr(0, colon), text.substr(colon + 2));
    } else if (const auto node = parse_node(text)) {
      at_column_[line.indent] = node_of(*node);
    }
  }

  SystemTopology take() { return std::move(topology_); }

 private:
  void begin(std::string_view header) {
    at_column_.clear();
    const auto words = split_blanks(header);
    for (size_t w = 0; w + 1 < words.size(); ++w) {
      const bool is_max = words[w] == "maxBw" || words[w] == "maxWidth";
      const bool is_total = words[w] == "totalBw" || words[w] == "totalWidth";
      if (!is_max && !is_total) continue;
      (is_max ? topology_.max_bw : topology_.total_bw) = decimal_or_unknown(words[w + 1]);
    }
  }

  /// `printed` has a name and a detail only.
  int node_of(const SystemNode& printed) {
    const auto [known, is_new] =
        place_.try_emplace(printed.name, static_cast<int>(topology_.nodes.size()));
    if (is_new) topology_.nodes.emplace_back().name = printed.name;
    SystemNode& node = topology_.nodes[known->second];
    if (node.detail.empty()) read_detail(printed.detail, node);
    return known->second;
  }

  static void read_detail(std::string_view detail, SystemNode& node) {
    node.detail = detail;
    if (node.name.kind == "GPU") node.rank = leading_number(detail);
    const size_t slash = detail.rfind('/');
    if (node.name.kind == "NET" && slash != detail.npos) {
      node.speed = decimal_or_unknown(detail.substr(slash + 1));
    }
  }

  /// True if `node` is `above` or hangs below it.
  bool is_below(int node, int above) const {
    for (; node >= 0; node = topology_.nodes[node].parent) {
      if (node == above) return true;
    }
    return false;
  }

  /// Takes "+ PCI[48.0] - GPU/0-a1000 (3)"; false if the line is none of this form.
  bool add_link(const IndentedLine& line) {
    const std::string_view text = line.text;
    if (!text.starts_with("+ ")) return false;
    const size_t open = text.find('[');
    const size_t close = text.find("] - ", open == text.npos ? 0 : open);
    if (open == text.npos || close == text.npos) return false;
    const std::string_view type = text.substr(2, open - 2);
    const double bw = decimal_or_unknown(text.substr(open + 1, close - open - 1));
    const auto node = parse_node(text.substr(close + 4));
    const auto parent = at_column_.find(line.indent);
    if (!node || parent == at_column_.end()) {
      topology_.cut = true;
      return true;
    }
    const int index = node_of(*node);
    const bool hangs_there = type == "PCI" || type == "NET";
    if (hangs_there) at_column_[line.indent + static_cast<int>(close + 4)] = index;
    SystemNode& child = topology_.nodes[index];
    // A node hangs on one other; what is said again, or would close a circle, is a link.
    if (hangs_there && child.parent < 0 && !is_below(parent->second, index)) {
      child.parent = parent->second;
      child.link = type;
      child.bw = bw;
    } else {
      topology_.links.change().push_back({parent->second, index, std::string(type), bw});
    }
    return true;
  }

  void add_paths(std::string_view from, std::string_view rest) {
    const auto source = parse_node_name(trim(from));
    const auto start = source ? place_.find(*source) : place_.end();
    if (start == place_.end()) {
      topology_.cut = true;
      return;
    }
    for (rest = trim(rest); !rest.empty(); rest = trim(rest)) {
      const size_t open = rest.find(" (");
      const size_t close = rest.find(')');
      if (open == rest.npos || close == rest.npos || close < open) {
        topology_.cut = true;  // NCCL's buffer ended here.
        return;
      }
      add_path(start->second, rest.substr(0, open), rest.substr(open + 2, close - open - 2));
      rest.remove_prefix(close + 1);
    }
  }

  void add_path(int from, std::string_view to, std::string_view numbers) {
    const auto target = parse_node_name(trim(to));
    const auto end = target ? place_.find(*target) : place_.end();
    const auto parts = split(numbers, '/');
    if (end == place_.end() || parts.size() != 3) {
      topology_.cut = true;
      return;
    }
    // A path to itself says nothing: "LOC".
    if (end->second == from) return;
    const auto hops = parse_int(parts[0]);
    topology_.paths.change().push_back({from, end->second, static_cast<int>(hops.value_or(-1)),
                                        decimal_or_unknown(parts[1]), std::string(parts[2])});
  }

  SystemTopology topology_;
  std::map<NodeName, int> place_;
  std::map<int, int> at_column_;  ///< The last node whose text begins in that column.
};

// Rings and trees.

bool is_rank(int rank, size_t nranks) { return rank >= 0 && static_cast<size_t>(rank) < nranks; }

/// What is wrong with a whole list of ranks; empty if every rank stands in it once.
std::string fault_of_list(const std::vector<int>& listed, size_t nranks) {
  std::vector<bool> seen(nranks);
  for (const int rank : listed) {
    if (!is_rank(rank, nranks)) return fmt::format("rank {} of {} is listed", rank, nranks);
    if (seen[rank]) return fmt::format("rank {} is listed twice", rank);
    seen[rank] = true;
  }
  return {};
}

/// Neighbours that do not name each other; empty if there are none.
std::string fault_of_neighbours(const RingSayings& says) {
  const size_t nranks = says.next.size();
  for (size_t r = 0; r < nranks; ++r) {
    const int next = says.next[r];
    if (next < 0) continue;
    if (!is_rank(next, nranks)) return fmt::format("rank {} passes on to rank {}", r, next);
    const int back = says.prev[next];
    if (back >= 0 && static_cast<size_t>(back) != r) {
      return fmt::format("rank {} passes on to rank {}, which receives from rank {}", r, next,
                         back);
    }
  }
  return {};
}

/// A rank whose neighbour is not the one that the list has; empty if there is none.
std::string fault_between(const RingSayings& says) {
  for (size_t i = 0; i < says.listed.size(); ++i) {
    const int rank = says.listed[i];
    const int next = says.listed[(i + 1) % says.listed.size()];
    const int said = says.next[rank];
    if (said >= 0 && said != next) {
      return fmt::format("rank {} passes on to rank {}, rank 0 lists rank {}", rank, said, next);
    }
  }
  return {};
}

/// Ranks from rank 0 on, until the ring closes or a rank's next one is not known.
std::vector<int> follow(const std::vector<int>& next) {
  std::vector<int> order;
  std::vector<bool> seen(next.size());
  int rank = 0;
  while (is_rank(rank, next.size()) && !seen[rank]) {
    seen[rank] = true;
    order.push_back(rank);
    rank = next[rank];
  }
  return order;
}

/// An edge whose ends do not name each other; empty if there is none.
std::string fault_of_edges(const std::vector<TreePlace>& places) {
  const auto at = [&](int rank) -> const TreePlace& { return places[rank]; };
  for (const TreePlace& place : places) {
    if (place.rank < 0) continue;
    if (place.up >= 0) {
      if (!is_rank(place.up, places.size())) {
        return fmt::format("the parent of rank {} is rank {}", place.rank, place.up);
      }
      const std::vector<int>& children = at(place.up).down;
      const bool is_named = std::ranges::find(children, place.rank) != children.end();
      if (at(place.up).rank >= 0 && !is_named) {
        return fmt::format("rank {} has parent {}, which does not have it as a child", place.rank,
                           place.up);
      }
    }
    for (const int child : place.down) {
      if (!is_rank(child, places.size())) {
        return fmt::format("a child of rank {} is rank {}", place.rank, child);
      }
      if (at(child).rank >= 0 && at(child).up != place.rank) {
        return fmt::format("rank {} has child {}, whose parent is {}", place.rank, child,
                           at(child).up);
      }
    }
  }
  return {};
}

/// Edges from `rank` to the root; -1 if it is not reached.
int depth_of(const std::vector<TreePlace>& places, int rank) {
  int depth = 0;
  while (static_cast<size_t>(depth) <= places.size()) {
    const TreePlace& place = places[rank];
    if (place.rank < 0) return -1;
    if (place.up < 0) return depth;
    rank = place.up;
    ++depth;
  }
  return -1;
}

/// A torn line may print any size, so ranks that say nothing must not cost much: with fewer than
/// one speaking rank in kRanksPerVoice there is nothing to check.
constexpr size_t kRanksPerVoice = 256;

std::optional<int> parse_rank(std::string_view text) {
  const auto rank = parse_int(text);
  return rank && *rank >= 0 && *rank <= INT32_MAX ? std::optional(static_cast<int>(*rank))
                                                  : std::nullopt;
}

/// The numbers of a list; NCCL ends one that it cut with dots, which are no number.
std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  for (const std::string_view word : split_blanks(text)) {
    const auto number = parse_rank(word);
    if (!number) break;
    numbers.push_back(*number);
  }
  return numbers;
}

using RingsSaid = std::map<int, RingSayings>;  ///< By channel: those of which something is said.

/// Calls `use(says)` for each channel in `mask`.
template <typename Use>
void for_each_channel(uint64_t mask, size_t nranks, RingsSaid& rings, Use use) {
  for (; mask != 0; mask &= mask - 1) {
    RingSayings& says = rings[std::countr_zero(mask)];
    says.prev.resize(nranks, -1);
    says.next.resize(nranks, -1);
    use(says);
  }
}

void read_rings(const RankSays& saying, size_t nranks, RingsSaid& rings) {
  for (const auto& [text, mask] : saying.section->ring_members.all) {
    const std::vector<int> listed = numbers_of(text);
    for_each_channel(mask.bits, nranks, rings, [&](RingSayings& says) {
      says.contradictory |= !says.listed.empty();
      says.listed = listed;
      says.listed_whole = listed.size() == nranks;
    });
  }
  for (const auto& [place, mask] : saying.section->ring_places.all) {
    const bool fits = place.rank == saying.rank && is_rank(place.rank, nranks);
    const auto r = static_cast<size_t>(fits ? place.rank : 0);
    for_each_channel(mask.bits, nranks, rings, [&](RingSayings& says) {
      says.contradictory |= !fits || says.next[r] >= 0;
      if (!fits) return;
      says.next[r] = place.next;
      says.prev[r] = place.prev;
    });
  }
}

/// The graphs that `check` makes of what is said about each channel; those that are alike are one.
template <typename Graph, typename Said>
std::vector<Graph> checked(const std::map<int, Said>& by_channel, Graph (*check)(const Said&),
                           bool torn) {
  std::vector<Graph> graphs;
  for (const auto& [channel, said] : by_channel) {
    Graph graph = check(said);
    if (torn && graph.check == GraphCheck::Broken) graph.check = GraphCheck::Unknown;
    const auto known = std::ranges::find_if(graphs, [&](const Graph& other) {
      graph.channels = other.channels;
      return graph == other;
    });
    graph.channels = channel_bit(channel);
    if (known != graphs.end()) {
      known->channels |= graph.channels;
    } else {
      graphs.push_back(std::move(graph));
    }
  }
  return graphs;
}

std::vector<Ring> build_rings(size_t nranks, const std::vector<RankSays>& sayings, bool torn) {
  RingsSaid said;
  for (const RankSays& saying : sayings) read_rings(saying, nranks, said);
  return checked(said, check_ring, torn);
}

std::vector<Tree> build_trees(size_t nranks, const std::vector<RankSays>& sayings, bool torn) {
  std::map<int, std::vector<TreePlace>> said;
  for (const RankSays& saying : sayings) {
    for (TreePlace& place : parse_trees(saying.section->trees, saying.section->trees_cut)) {
      const bool fits = place.rank == saying.rank && channel_bit(place.channel) != 0 &&
                        is_rank(place.rank, nranks);
      if (!fits) continue;
      auto& places = said[place.channel];
      places.resize(nranks);
      places[place.rank] = std::move(place);
    }
  }
  return checked(said, check_tree, torn);
}

std::vector<GraphSearch> build_searches(const std::vector<RankSays>& sayings) {
  using Key = std::tuple<size_t, int, int, std::string, std::string>;
  std::map<Key, GraphSearch> found;
  for (const RankSays& saying : sayings) {
    const auto& graphs = saying.section->graphs;
    for (size_t g = 0; g < graphs.size(); ++g) {
      // Channels without their pattern line: the beginning of the section was not read.
      if (graphs[g].pattern < 0) continue;
      GraphSearch& search =
          found[{g, graphs[g].pattern, -graphs[g].channels, graphs[g].bw, graphs[g].type}];
      if (search.ranks.empty()) search.graph = graphs[g];
      if (saying.rank >= 0) search.ranks.push_back(saying.rank);
    }
  }
  std::vector<GraphSearch> searches;
  for (auto& [key, search] : found) searches.push_back(std::move(search));
  return searches;
}

/// The ranks in "-1", "1/4/-1"; the -1 of unused places are left out.
std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> ranks;
  for (size_t end = 0; end != text.npos; text.remove_prefix(std::min(end + 1, text.size()))) {
    end = text.find('/');
    if (const auto rank = parse_rank(text.substr(0, end))) ranks.push_back(*rank);
  }
  return ranks;
}

bool is_places(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789/") == text.npos;
}

/// "1/4/-1->0->-1", in 2.4 "-1->0->1/4/-1".
bool read_place(std::string_view text, TreePlace& place) {
  text = text.substr(0, text.find('|'));
  const size_t first = text.find("->");
  const size_t second = first == text.npos ? first : text.find("->", first + 2);
  if (second == text.npos) return false;
  std::string_view before = text.substr(0, first);
  std::string_view after = text.substr(second + 2);
  const auto rank = parse_rank(text.substr(first + 2, second - first - 2));
  if (!rank || !is_places(before) || !is_places(after)) return false;
  // The side with several places holds the children.
  if (before.find('/') == before.npos) std::swap(before, after);
  place.rank = *rank;
  place.down = ranks_in(before);
  const std::vector<int> up = ranks_in(after);
  place.up = up.empty() ? -1 : up.front();
  return true;
}

using Column = std::pair<std::string_view, std::string_view>;  ///< Algorithm and protocol.

/// The columns below a row of algorithms, each of which has three protocols, and one of protocols.
/// The last block of a release has more protocols than its algorithms need.
std::vector<Column> columns_of(const std::vector<std::string_view>& algorithms,
                               const std::vector<std::string_view>& protocols) {
  constexpr size_t kProtocols = 3;
  std::vector<Column> columns;
  for (size_t i = 0; i < protocols.size() && i / kProtocols < algorithms.size(); ++i) {
    columns.emplace_back(algorithms[i / kProtocols], protocols[i]);
  }
  return columns;
}

/// "10.4/  43.6": both parts, trimmed.
Column halves(std::string_view cell) {
  const size_t slash = cell.find('/');
  if (slash == cell.npos) return {};
  return {trim(cell.substr(0, slash)), trim(cell.substr(slash + 1))};
}

/// The cells of a row behind its name; no empty one at the end.
std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> cells = split(row, '|');
  for (std::string_view& cell : cells) cell = trim(cell);
  if (!cells.empty() && cells.back().empty()) cells.pop_back();
  if (!cells.empty()) cells.erase(cells.begin());
  return cells;
}

}  // namespace

std::optional<NodeName> parse_node_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos || !equals_one_of(text.substr(0, slash), kKinds)) return std::nullopt;
  NodeName name{std::string(text.substr(0, slash)), 0, 0};
  const std::string_view id = text.substr(slash + 1);
  const size_t dash = id.find('-');
  if (dash != id.npos) {
    const auto system = parse_hex(id.substr(0, dash));
    const auto local = parse_hex(id.substr(dash + 1));
    if (!system || !local) return std::nullopt;
    name.system = *system;
    name.local = *local;
    return name;
  }
  // Numbers of networks and CPUs were decimal as long as ids had no system.
  const auto decimal = name.kind == "NET" || name.kind == "CPU" ? parse_int(id) : std::nullopt;
  const auto local = decimal && *decimal >= 0 ? static_cast<uint64_t>(*decimal) : parse_hex(id);
  if (!local) return std::nullopt;
  name.local = *local;
  return name;
}

std::string to_string(const NodeName& name) {
  return fmt::format("{}/{:x}-{:x}", name.kind, name.system, name.local);
}

SystemTopology parse_system(const BoundedLines& lines) {
  SystemParser parser;
  for (const IndentedLine& line : lines.lines()) parser.add(line);
  SystemTopology topology = parser.take();
  topology.cut |= lines.cut();
  return topology;
}

void add_system(SystemTopology& topology, const SystemTopology& other,
                std::optional<uint64_t> only) {
  topology.max_bw = std::max(topology.max_bw, other.max_bw);
  topology.total_bw = std::max(topology.total_bw, other.total_bw);
  topology.cut |= other.cut;
  std::map<NodeName, int> place;
  for (size_t n = 0; n < topology.nodes.size(); ++n) {
    place.emplace(topology.nodes[n].name, static_cast<int>(n));
  }
  std::vector<int> here;  // By node of `other`; -1: it is left out.
  const size_t known_before = topology.nodes.size();
  for (const SystemNode& node : other.nodes) {
    here.push_back(-1);
    if (only && node.name.system != *only) continue;
    const auto [known, is_new] =
        place.try_emplace(node.name, static_cast<int>(topology.nodes.size()));
    here.back() = known->second;
    if (is_new) topology.nodes.push_back(node);
  }
  for (size_t n = known_before; n < topology.nodes.size(); ++n) {
    int& parent = topology.nodes[n].parent;
    if (parent >= 0) parent = here[parent];
  }
  const auto add_edges = [&](auto& edges, const auto& others) {
    std::set<std::pair<int, int>> known;
    for (const auto& edge : edges) known.emplace(edge.from, edge.to);
    for (auto edge : others) {
      edge.from = here[edge.from];
      edge.to = here[edge.to];
      if (edge.from < 0 || edge.to < 0) continue;
      if (known.emplace(edge.from, edge.to).second) edges.change().push_back(std::move(edge));
    }
  };
  add_edges(topology.links, other.links);
  add_edges(topology.paths, other.paths);
}

Ring check_ring(const RingSayings& says) {
  Ring ring;
  const size_t nranks = says.next.size();
  const auto seen =
      static_cast<size_t>(std::ranges::count_if(says.next, [](int next) { return next >= 0; }));
  ring.order = says.listed.empty() ? follow(says.next) : says.listed;
  const auto give = [&](GraphCheck check, std::string remark) {
    ring.check = check;
    ring.remark = std::move(remark);
    return ring;
  };
  if (says.contradictory) return give(GraphCheck::Unknown, "its lines contradict each other");
  std::string fault = says.listed_whole ? fault_of_list(says.listed, nranks) : "";
  if (fault.empty() && says.listed_whole) fault = fault_between(says);
  if (fault.empty()) fault = fault_of_neighbours(says);
  if (!fault.empty()) return give(GraphCheck::Broken, std::move(fault));
  if (says.listed_whole) return give(GraphCheck::Sound, "");
  if (seen == nranks && nranks > 0) {
    ring.order = follow(says.next);
    if (ring.order.size() == nranks) return give(GraphCheck::Sound, "");
    return give(GraphCheck::Broken,
                fmt::format("it closes after {} of {} ranks", ring.order.size(), nranks));
  }
  return give(GraphCheck::Unknown,
              says.listed.empty()
                  ? fmt::format("{} of {} ranks tell their neighbours", seen, nranks)
                  : fmt::format("the list is cut after {} ranks", says.listed.size()));
}

Tree check_tree(const std::vector<TreePlace>& places) {
  Tree tree;
  size_t seen = 0;
  std::vector<int> roots;
  for (const TreePlace& place : places) {
    tree.parents.push_back(place.rank < 0 ? Tree::kUnseen : place.up);
    seen += place.rank >= 0 ? 1 : 0;
    if (place.rank >= 0 && place.up < 0) roots.push_back(place.rank);
  }
  if (roots.size() == 1) tree.root = roots.front();
  const auto give = [&](GraphCheck check, std::string remark) {
    tree.check = check;
    tree.remark = std::move(remark);
    return tree;
  };
  std::string fault = fault_of_edges(places);
  if (!fault.empty()) return give(GraphCheck::Broken, std::move(fault));
  if (roots.size() > 1) {
    return give(GraphCheck::Broken,
                fmt::format("ranks {} and {} are both roots", roots[0], roots[1]));
  }
  if (seen < places.size()) {
    return give(GraphCheck::Unknown,
                fmt::format("{} of {} ranks tell their place", seen, places.size()));
  }
  int deepest = 0;
  for (size_t r = 0; r < places.size(); ++r) {
    const int depth = depth_of(places, static_cast<int>(r));
    if (depth < 0) return give(GraphCheck::Broken, fmt::format("rank {} does not reach a root", r));
    deepest = std::max(deepest, depth);
  }
  tree.depth = deepest;
  return give(GraphCheck::Sound, "");
}

std::vector<TreePlace> parse_trees(std::string_view text, bool cut) {
  std::vector<TreePlace> places;
  const std::vector<std::string_view> words = split_blanks(text);
  for (size_t w = 0; w + 1 < words.size(); w += 2) {
    const std::string_view number = words[w];
    if (number.size() < 3 || number.front() != '[' || number.back() != ']') break;
    const auto channel = parse_int(number.substr(1, number.size() - 2));
    TreePlace place;
    if (!channel || channel_bit(*channel) == 0 || !read_place(words[w + 1], place)) break;
    place.channel = static_cast<int>(*channel);
    const bool last = w + 2 >= words.size();
    if (!(cut && last)) places.push_back(std::move(place));
  }
  return places;
}

std::vector<TuningCell> parse_tuning(const BoundedLines& rows) {
  std::vector<TuningCell> cells;
  std::vector<std::string_view> algorithms;
  std::vector<Column> columns;
  for (const IndentedLine& line : rows.lines()) {
    const std::string_view name = trim(line.text).substr(0, trim(line.text).find_first_of(" |"));
    const std::vector<std::string_view> row = cells_of(line.text);
    if (name == "Algorithm") {
      algorithms = row;
    } else if (name == "Protocol") {
      columns = columns_of(algorithms, row);
    } else if (name == "Latency/AlgBw") {
      columns.clear();
      for (const std::string_view cell : row) columns.push_back(halves(cell));
    } else if (name != "Max") {
      for (size_t i = 0; i < row.size() && i < columns.size(); ++i) {
        const auto [latency, bw] = halves(row[i]);
        const TuningCell cell{std::string(name), std::string(columns[i].first),
                              std::string(columns[i].second), parse_decimal(latency).value_or(-1),
                              parse_decimal(bw).value_or(-1)};
        if (cell.latency_us > 0 || cell.bw > 0) cells.push_back(cell);
      }
    }
  }
  return cells;
}

CommGraphs build_comm_graphs(int nranks, const std::vector<RankSays>& sayings, bool torn) {
  CommGraphs graphs;
  graphs.searches = build_searches(sayings);
  for (const RankSays& saying : sayings) {
    if (graphs.channels == ChannelNumbers{}) graphs.channels = saying.section->channels;
    if (graphs.tuning.empty()) graphs.tuning = parse_tuning(saying.section->tuning);
  }
  // The lists below are as long as the communicator; a torn size must not cost memory.
  if (nranks <= 0 || static_cast<size_t>(nranks) > kRanksPerVoice * sayings.size()) return graphs;
  graphs.rings = build_rings(static_cast<size_t>(nranks), sayings, torn);
  graphs.trees = build_trees(static_cast<size_t>(nranks), sayings, torn);
  return graphs;
}

}  // namespace ncclog
