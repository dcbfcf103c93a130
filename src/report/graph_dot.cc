#include "report/graph_dot.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr int kMaxColumns = 120;

/// A quoted string. A backslash begins an escape and '&' an entity, so both are written out.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : clip(printable(text), kMaxColumns)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
    if (c == '&') out += "amp;";
  }
  return out + '"';
}

/// Remarks below a title.
std::string heading(const std::string& title, const std::vector<std::string>& remarks) {
  std::string out = in_quotes(title);
  out.pop_back();
  for (const std::string& remark : remarks) {
    const std::string text = in_quotes(remark);
    out += "\\l" + text.substr(1, text.size() - 2);
  }
  return out + "\\l\"";
}

std::string node_name(size_t graph, size_t node) { return fmt::format("g{}n{}", graph, node); }

std::string node_line(size_t graph, size_t n, const GraphNode& node) {
  return fmt::format("{} [label={} tooltip={}];\n", node_name(graph, n), in_quotes(node.label),
                     in_quotes(node.detail.empty() ? node.label : node.detail));
}

/// Nodes without a group, then each group as a cluster.
std::string nodes_text(size_t index, const Graph& graph) {
  std::string out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].group < 0) out += "    " + node_line(index, n, graph.nodes[n]);
  }
  for (size_t g = 0; g < graph.groups.size(); ++g) {
    const std::string& name = graph.groups[g];
    out += fmt::format("    subgraph cluster_{}_{} {{\n      label={};\n", index, g,
                       in_quotes(name.empty() ? "unknown host" : name));
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const bool inside = graph.nodes[n].group == static_cast<int>(g);
      if (inside) out += "      " + node_line(index, n, graph.nodes[n]);
    }
    out += "    }\n";
  }
  return out;
}

std::string way_line(size_t index, size_t from, size_t to, const GraphNode& node) {
  const std::string_view colour = node.transport ? row_of(*node.transport).colour : "#56606b";
  return fmt::format("    {} -> {} [label={} color=\"{}\"];\n", node_name(index, from),
                     node_name(index, to), in_quotes(node.link), colour);
}

std::string ways_text(size_t index, const Graph& graph) {
  std::string out;
  const size_t count = graph.nodes.size();
  for (size_t n = 0; n < count; ++n) {
    const GraphNode& node = graph.nodes[n];
    if (graph.shape == GraphShape::Tree) {
      if (node.parent >= 0) out += way_line(index, static_cast<size_t>(node.parent), n, node);
    } else if (n + 1 < count || (graph.closed && count > 1)) {
      out += way_line(index, n, (n + 1) % count, node);
    }
  }
  for (const GraphLink& link : graph.links) {
    out += fmt::format("    {} -> {} [label={} dir=none style=dashed constraint=false];\n",
                       node_name(index, static_cast<size_t>(link.from)),
                       node_name(index, static_cast<size_t>(link.to)), in_quotes(link.label));
  }
  return out;
}

std::string cluster(size_t index, const Graph& graph) {
  return fmt::format("  subgraph cluster_{} {{\n    label={};\n{}{}  }}\n", index,
                     heading(graph.title, graph.remarks), nodes_text(index, graph),
                     ways_text(index, graph));
}

}  // namespace

std::string write_dot(const Drawing& drawing) {
  std::string out = fmt::format(
      "digraph {} {{\n  rankdir=LR;\n  labelloc=t;\n  labeljust=l;\n  label={};\n"
      "  node [shape=box fontname=\"monospace\"];\n  edge [fontname=\"monospace\" fontsize=10];\n",
      in_quotes(drawing.title), heading(drawing.title, drawing.notes));
  for (size_t g = 0; g < drawing.graphs.size(); ++g) out += cluster(g, drawing.graphs[g]);
  return out + "}\n";
}

}  // namespace ncclog
