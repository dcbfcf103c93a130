#include "model/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"

namespace ncclog {
namespace {

constexpr std::string_view kKinds[] = {"CPU", "PCI", "GPU", "NVS", "NIC",
                                       "NET", "GIN", "RMA", "DEV", "CXB"};

double decimal_or_unknown(std::string_view text) { return parse_decimal(text).value_or(-1); }

/// "GPU/0-a1000 (3) [MLOPart 1]": name, what stands in brackets, and the rest.
struct NodeText {
  NodeName name;
  std::string_view detail;
};

std::optional<NodeText> parse_node(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  const auto name = parse_node_name(text.substr(0, end));
  if (!name) return std::nullopt;
  std::string_view detail = trim(text.substr(end));
  const bool is_bracketed = detail.starts_with('(') && detail.find(')') + 1 == detail.size();
  if (is_bracketed) detail = detail.substr(1, detail.size() - 2);
  return NodeText{*name, detail};
}

/// "3" and "(3) [MLOPart 1]" → 3.
int leading_number(std::string_view text) {
  if (text.starts_with('(')) text.remove_prefix(1);
  const auto number = parse_int(text.substr(0, text.find_first_not_of("0123456789")));
  return number ? static_cast<int>(std::min<int64_t>(*number, INT32_MAX)) : -1;
}

/// "+ PCI[48.0] - GPU/0-a1000 (3)".
struct LinkText {
  std::string_view type;
  double bw = -1;
  std::string_view node;
};

std::optional<LinkText> parse_link(std::string_view text) {
  if (!text.starts_with("+ ")) return std::nullopt;
  const size_t open = text.find('[');
  const size_t close = text.find("] - ", open == text.npos ? 0 : open);
  if (open == text.npos || close == text.npos) return std::nullopt;
  return LinkText{text.substr(2, open - 2),
                  decimal_or_unknown(text.substr(open + 1, close - open - 1)),
                  text.substr(close + 4)};
}

/// Puts a topology together. Invariant: `place` names every node of `topology`.
class SystemParser {
 public:
  void add(const IndentedLine& line) {
    const std::string_view text = line.text;
    if (text.starts_with("=")) return begin(text);
    const size_t colon = text.find(" :");
    if (const auto link = parse_link(text)) {
      add_linked(line.indent, *link,
                 line.indent + static_cast<int>(link->node.data() - text.data()));
    } else if (colon != text.npos) {
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
      if (words[w] == "maxBw" || words[w] == "maxWidth") {
        topology_.max_bw = decimal_or_unknown(words[w + 1]);
      }
      if (words[w] == "totalBw" || words[w] == "totalWidth") {
        topology_.total_bw = decimal_or_unknown(words[w + 1]);
      }
    }
  }

  int node_of(const NodeText& text) {
    const auto [known, is_new] =
        place_.try_emplace(text.name, static_cast<int>(topology_.nodes.size()));
    if (is_new) topology_.nodes.emplace_back().name = text.name;
    SystemNode& node = topology_.nodes[static_cast<size_t>(known->second)];
    if (node.detail.empty()) read_detail(text.detail, node);
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
    for (; node >= 0; node = topology_.nodes[static_cast<size_t>(node)].parent) {
      if (node == above) return true;
    }
    return false;
  }

  void add_linked(int column, const LinkText& link, int node_column) {
    const auto node = parse_node(link.node);
    const auto parent = at_column_.find(column);
    if (!node || parent == at_column_.end()) {
      topology_.cut = true;
      return;
    }
    const int index = node_of(*node);
    const bool hangs_there = link.type == "PCI" || link.type == "NET";
    if (hangs_there) at_column_[node_column] = index;
    SystemNode& child = topology_.nodes[static_cast<size_t>(index)];
    // A node hangs on one other; what is said again, or would close a circle, is a link.
    if (hangs_there && child.parent < 0 && !is_below(parent->second, index)) {
      child.parent = parent->second;
      child.link = link.type;
      child.bw = link.bw;
    } else {
      topology_.links.push_back({parent->second, index, std::string(link.type), link.bw});
    }
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
    topology_.paths.push_back({from, end->second, static_cast<int>(hops.value_or(-1)),
                               decimal_or_unknown(parts[1]), std::string(parts[2])});
  }

  SystemTopology topology_;
  std::map<NodeName, int> place_;
  std::map<int, int> at_column_;  ///< The last node whose text begins in that column.
};

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

void add_system(SystemTopology& topology, const SystemTopology& other) {
  topology.max_bw = std::max(topology.max_bw, other.max_bw);
  topology.total_bw = std::max(topology.total_bw, other.total_bw);
  topology.cut |= other.cut;
  std::map<NodeName, int> place;
  for (size_t n = 0; n < topology.nodes.size(); ++n) {
    place.emplace(topology.nodes[n].name, static_cast<int>(n));
  }
  std::vector<int> here;  // By node of `other`.
  const size_t known_before = topology.nodes.size();
  for (const SystemNode& node : other.nodes) {
    const auto [known, is_new] =
        place.try_emplace(node.name, static_cast<int>(topology.nodes.size()));
    here.push_back(known->second);
    if (is_new) topology.nodes.push_back(node);
  }
  for (size_t n = known_before; n < topology.nodes.size(); ++n) {
    int& parent = topology.nodes[n].parent;
    if (parent >= 0) parent = here[static_cast<size_t>(parent)];
  }
  const auto moved = [&](int node) { return here[static_cast<size_t>(node)]; };
  std::set<std::pair<int, int>> linked;
  for (const SystemLink& link : topology.links) linked.emplace(link.from, link.to);
  for (SystemLink link : other.links) {
    link.from = moved(link.from);
    link.to = moved(link.to);
    if (linked.emplace(link.from, link.to).second) topology.links.push_back(link);
  }
  std::set<std::pair<int, int>> reached;
  for (const SystemPath& path : topology.paths) reached.emplace(path.from, path.to);
  for (SystemPath path : other.paths) {
    path.from = moved(path.from);
    path.to = moved(path.to);
    if (reached.emplace(path.from, path.to).second) topology.paths.push_back(path);
  }
}

}  // namespace ncclog
