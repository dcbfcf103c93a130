#include "report/graph_layout.h"

#include <algorithm>

#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr int kMargin = 14;
constexpr int kRowGap = 10;
constexpr int kGroupLabelHeight = 20;
constexpr size_t kNodesInRow = 8;

int box_width(const GraphNode& node) { return std::max(30, text_width(shown_label(node)) + 14); }

/// Room for the letter or the words beside a line.
int gap_for(const Graph& graph) {
  if (graph.shape == GraphShape::Ring) return 34;
  int widest = 0;
  for (const GraphNode& node : graph.nodes) {
    if (!node.transport) widest = std::max(widest, text_width(clip(printable(node.link), 12)));
  }
  return std::max(34, widest + 16);
}

GraphLayout lay_out_ring(const Graph& graph) {
  const int gap = gap_for(graph);
  int widest = 30;
  for (const GraphNode& node : graph.nodes) widest = std::max(widest, box_width(node));
  GraphLayout layout;
  int y = kMargin - kRowGap;
  size_t in_row = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const bool new_group = n == 0 || graph.nodes[n].group != graph.nodes[n - 1].group;
    if (new_group || in_row == kNodesInRow) {
      if (n > 0) y += kBoxHeight;
      y += kRowGap + (new_group ? kGroupLabelHeight : kRowGap);
      in_row = 0;
    }
    const int x = kMargin + gap / 2 + static_cast<int>(in_row++) * (widest + gap);
    // Beside the arrow that comes from the row above.
    if (new_group) layout.groups.push_back({x + widest / 2 + 8, y - 7, graph.nodes[n].group});
    layout.nodes.push_back({x, y, widest, kBoxHeight});
    layout.width = std::max(layout.width, x + widest + gap / 2 + kMargin);
  }
  for (const GroupLabel& label : layout.groups) {
    layout.width =
        std::max(layout.width, label.x + text_width(shown_group(graph, label.group)) + kMargin);
  }
  layout.height = y + kBoxHeight + kRowGap + kMargin;
  return layout;
}

std::vector<int> depths(const Graph& graph) {
  std::vector<int> depth(graph.nodes.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int parent = graph.nodes[n].parent;
    if (parent >= 0) depth[n] = depth[static_cast<size_t>(parent)] + 1;
  }
  return depth;
}

/// Nodes that only links reach, such as NVLink switches, stand at the right.
std::vector<bool> apart(const Graph& graph) {
  std::vector<bool> is_apart(graph.nodes.size(), false);
  for (const GraphLink& link : graph.links) {
    is_apart[static_cast<size_t>(link.from)] = true;
    is_apart[static_cast<size_t>(link.to)] = true;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].parent < 0) continue;
    is_apart[n] = false;
    is_apart[static_cast<size_t>(graph.nodes[n].parent)] = false;
  }
  const bool all = std::all_of(is_apart.begin(), is_apart.end(), [](bool yes) { return yes; });
  return all ? std::vector<bool>(graph.nodes.size(), false) : is_apart;
}

/// Column of each node; nodes apart have one of their own behind all others.
std::vector<int> columns_of(const Graph& graph) {
  std::vector<int> columns = depths(graph);
  const std::vector<bool> is_apart = apart(graph);
  const int last = columns.empty() ? 0 : *std::max_element(columns.begin(), columns.end());
  for (size_t n = 0; n < columns.size(); ++n) {
    if (is_apart[n]) columns[n] = last + 1;
  }
  return columns;
}

/// Left edge of each column.
std::vector<int> column_edges(const Graph& graph, const std::vector<int>& columns, int gap,
                              int& right) {
  std::vector<int> widths;
  for (size_t n = 0; n < columns.size(); ++n) {
    const auto column = static_cast<size_t>(columns[n]);
    if (widths.size() <= column) widths.resize(column + 1, 0);
    widths[column] = std::max(widths[column], box_width(graph.nodes[n]));
  }
  std::vector<int> edges;
  right = kMargin;
  for (const int width : widths) {
    edges.push_back(right);
    right += width + gap;
  }
  return edges;
}

/// Rows in half steps: leaves from top to bottom, parents in the middle of what hangs on them.
std::vector<int> rows_of(const Graph& graph, const std::vector<bool>& is_apart) {
  const size_t count = graph.nodes.size();
  std::vector<int> first(count, -1);
  std::vector<int> last(count, -1);
  std::vector<bool> is_leaf(count, true);
  for (const GraphNode& node : graph.nodes) {
    if (node.parent >= 0) is_leaf[static_cast<size_t>(node.parent)] = false;
  }
  int row = 0;
  for (size_t n = 0; n < count; ++n) {
    if (is_leaf[n] && !is_apart[n]) first[n] = last[n] = 2 * row++;
  }
  for (size_t n = count; n-- > 0;) {
    const int parent = graph.nodes[n].parent;
    if (parent < 0) continue;
    const auto p = static_cast<size_t>(parent);
    const int middle = (first[n] + last[n]) / 2;
    first[p] = first[p] < 0 ? middle : std::min(first[p], middle);
    last[p] = std::max(last[p], middle);
  }
  std::vector<int> rows(count, 0);
  for (size_t n = 0; n < count; ++n) {
    if (!is_apart[n]) rows[n] = (first[n] + last[n]) / 2;
  }
  return rows;
}

/// Nodes apart stand beside the middle of what they are linked to, below each other.
void place_apart(const Graph& graph, const std::vector<bool>& is_apart, std::vector<int>& rows) {
  int next = 0;
  for (size_t n = 0; n < rows.size(); ++n) {
    if (!is_apart[n]) continue;
    int sum = 0;
    int count = 0;
    for (const GraphLink& link : graph.links) {
      const bool from_here = static_cast<size_t>(link.from) == n;
      if (!from_here && static_cast<size_t>(link.to) != n) continue;
      sum += rows[static_cast<size_t>(from_here ? link.to : link.from)];
      ++count;
    }
    rows[n] = std::max(next, count == 0 ? 0 : sum / count);
    next = rows[n] + 2;
  }
}

/// Room at the right for links between boxes of one column.
int link_room(const Graph& graph, const std::vector<int>& columns) {
  const bool bent = std::any_of(graph.links.begin(), graph.links.end(), [&](const GraphLink& link) {
    return columns[static_cast<size_t>(link.from)] == columns[static_cast<size_t>(link.to)];
  });
  return bent ? 60 : 0;
}

GraphLayout lay_out_tree(const Graph& graph) {
  const std::vector<int> columns = columns_of(graph);
  const std::vector<bool> is_apart = apart(graph);
  const int gap = gap_for(graph);
  int right = 0;
  const std::vector<int> edges = column_edges(graph, columns, gap, right);
  std::vector<int> rows = rows_of(graph, is_apart);
  place_apart(graph, is_apart, rows);
  GraphLayout layout;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int y = kMargin + rows[n] * (kBoxHeight + kRowGap) / 2;
    layout.nodes.push_back(
        {edges[static_cast<size_t>(columns[n])], y, box_width(graph.nodes[n]), kBoxHeight});
    layout.height = std::max(layout.height, y + kBoxHeight + kMargin);
  }
  layout.width = right - gap + kMargin + link_room(graph, columns);
  return layout;
}

}  // namespace

std::string shown_label(const GraphNode& node) { return clip(printable(node.label), kMaxLabel); }

std::string shown_group(const Graph& graph, int group) {
  if (group < 0) return {};
  const std::string& name = graph.groups[static_cast<size_t>(group)];
  return clip(printable(name.empty() ? "unknown host" : name), 2 * kMaxLabel);
}

int text_width(std::string_view text) { return display_width(text) * 15 / 2; }

GraphLayout lay_out(const Graph& graph) {
  return graph.shape == GraphShape::Ring ? lay_out_ring(graph) : lay_out_tree(graph);
}

}  // namespace ncclog
