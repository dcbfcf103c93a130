#include "report/html/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"
#include "report/html/page_files.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr int kEdge = 14;
constexpr int kBoxHeight = 24;
constexpr int kMaxLabel = 28;  ///< Columns of a label.
constexpr int kRowGap = 10;
constexpr int kGroupLabelHeight = 20;
constexpr size_t kNodesInRow = 8;

std::string shown_label(const GraphNode& node) { return clip(printable(node.label), kMaxLabel); }

/// The name above a box that is the first one of its host; empty for others.
std::string shown_host(const Graph& graph, size_t n) {
  const bool is_first = n == 0 || graph.nodes[n].host != graph.nodes[n - 1].host;
  return is_first ? clip(printable(graph.nodes[n].host), 2 * kMaxLabel) : std::string();
}

/// Where that name begins: beside the arrow that comes from the row above.
int host_x(const Box& box) { return box.middle_x() + 8; }

int box_width(const GraphNode& node) { return std::max(30, text_width(shown_label(node)) + 14); }

/// Room for the letter or the words beside a line.
int gap_for(const Graph& graph) {
  if (graph.is_ring) return 34;
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
  int y = kEdge - kRowGap;
  size_t in_row = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const bool new_group = n == 0 || graph.nodes[n].host != graph.nodes[n - 1].host;
    if (new_group || in_row == kNodesInRow) {
      if (n > 0) y += kBoxHeight;
      y += kRowGap + (new_group ? kGroupLabelHeight : kRowGap);
      in_row = 0;
    }
    const int x = kEdge + gap / 2 + static_cast<int>(in_row++) * (widest + gap);
    const Box& box = layout.nodes.emplace_back(Box{x, y, widest, kBoxHeight});
    layout.width = std::max({layout.width, box.right() + gap / 2 + kEdge,
                             host_x(box) + text_width(shown_host(graph, n)) + kEdge});
  }
  layout.height = y + kBoxHeight + kRowGap + kEdge;
  return layout;
}

/// Nodes that only links reach, such as NVLink switches, stand at the right.
std::vector<bool> apart(const Graph& graph) {
  std::vector<bool> is_apart(graph.nodes.size(), false);
  for (const GraphLink& link : graph.links) {
    is_apart[link.from] = true;
    is_apart[link.to] = true;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].parent < 0) continue;
    is_apart[n] = false;
    is_apart[graph.nodes[n].parent] = false;
  }
  const bool all = std::ranges::all_of(is_apart, [](bool yes) { return yes; });
  return all ? std::vector<bool>(graph.nodes.size(), false) : is_apart;
}

/// Column of each node, by its depth; nodes apart have one of their own behind all others.
std::vector<int> columns_of(const Graph& graph, const std::vector<bool>& is_apart) {
  std::vector<int> columns(graph.nodes.size(), 0);
  int last = 0;
  for (size_t n = 0; n < columns.size(); ++n) {
    const int parent = graph.nodes[n].parent;
    if (parent >= 0) columns[n] = columns[parent] + 1;
    last = std::max(last, columns[n]);
  }
  for (size_t n = 0; n < columns.size(); ++n) {
    if (is_apart[n]) columns[n] = last + 1;
  }
  return columns;
}

/// Left edge of each column.
std::vector<int> column_edges(const Graph& graph, const std::vector<int>& columns, int gap,
                              int& right) {
  std::map<int, int> widths;  // By column; each has a node.
  for (size_t n = 0; n < columns.size(); ++n) {
    int& width = widths[columns[n]];
    width = std::max(width, box_width(graph.nodes[n]));
  }
  std::vector<int> edges;
  right = kEdge;
  for (const auto& [column, width] : widths) {
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
    if (node.parent >= 0) is_leaf[node.parent] = false;
  }
  int row = 0;
  for (size_t n = 0; n < count; ++n) {
    if (is_leaf[n] && !is_apart[n]) first[n] = last[n] = 2 * row++;
  }
  for (size_t n = count; n-- > 0;) {
    const int parent = graph.nodes[n].parent;
    if (parent < 0) continue;
    const int middle = (first[n] + last[n]) / 2;
    first[parent] = first[parent] < 0 ? middle : std::min(first[parent], middle);
    last[parent] = std::max(last[parent], middle);
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
      sum += rows[from_here ? link.to : link.from];
      ++count;
    }
    rows[n] = std::max(next, count == 0 ? 0 : sum / count);
    next = rows[n] + 2;
  }
}

GraphLayout lay_out_tree(const Graph& graph) {
  const std::vector<bool> is_apart = apart(graph);
  const std::vector<int> columns = columns_of(graph, is_apart);
  const int gap = gap_for(graph);
  int right = 0;
  const std::vector<int> edges = column_edges(graph, columns, gap, right);
  std::vector<int> rows = rows_of(graph, is_apart);
  place_apart(graph, is_apart, rows);
  GraphLayout layout;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const int y = kEdge + rows[n] * (kBoxHeight + kRowGap) / 2;
    layout.nodes.push_back({edges[columns[n]], y, box_width(graph.nodes[n]), kBoxHeight});
    layout.height = std::max(layout.height, y + kBoxHeight + kEdge);
  }
  const bool is_bent = std::ranges::any_of(
      graph.links, [&](const GraphLink& link) { return columns[link.from] == columns[link.to]; });
  // Room at the right for links between boxes of one column.
  layout.width = right - gap + kEdge + (is_bent ? 60 : 0);
  return layout;
}

// The drawing.

/// An arrow's head that points at (x, y) to the right, or down.
Markup head_right(int x, int y) { return svg_path("head", fmt::format("M{} {}l-7 -4v8z", x, y)); }

Markup head_down(int x, int y) { return svg_path("head", fmt::format("M{} {}l-4 -7h8z", x, y)); }

/// The letter of a way's transport in a box of its colour, with (x, y) in the middle.
Markup letter_at(int x, int y, const GraphNode& node, std::string_view title) {
  if (!node.transport) return {};
  const TransportClassRow& row = row_of(*node.transport);
  return svg_rect({x - 7, y - 8, 14, 16}, row.css, title) +
         svg_text(x, y + 4, "label", "middle", std::string(1, row.letter));
}

std::string way_title(const GraphNode& from, const GraphNode& to) {
  return fmt::format("{} to {}{}{}", from.label, to.label, from.link.empty() ? "" : ": ",
                     from.link);
}

/// From a box to the next one in its row.
Markup way_right(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int y = from.middle_y();
  return svg_path("way", fmt::format("M{} {}H{}", from.right(), y, to.x - 6), title) +
         head_right(to.x - 1, y) + letter_at((from.right() + to.x) / 2 - 3, y, node, title);
}

/// From the end of a row to the beginning of the next one.
Markup way_down(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int low = from.bottom() + 8;
  const int x = from.right() + 9;
  const std::string path = fmt::format("M{} {}H{}V{}H{}V{}", from.right(), from.middle_y(), x, low,
                                       to.middle_x(), to.y - 6);
  return svg_path("way", path, title) + head_down(to.middle_x(), to.y - 1) +
         letter_at(x, from.middle_y(), node, title);
}

/// From the last box back to the first, around the left edge.
Markup way_back(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int low = from.bottom() + 12;
  const std::string path = fmt::format("M{} {}V{}H7V{}H{}", from.middle_x(), from.bottom(), low,
                                       to.middle_y(), to.x - 6);
  return svg_path("way", path, title) + head_right(to.x - 1, to.middle_y()) +
         letter_at((7 + from.middle_x()) / 2, low, node, title);
}

Markup ring_ways(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  const size_t count = graph.nodes.size();
  for (size_t n = 0; n + 1 < count; ++n) {
    const std::string title = way_title(graph.nodes[n], graph.nodes[n + 1]);
    const bool same_row = layout.nodes[n].y == layout.nodes[n + 1].y;
    out += (same_row ? way_right : way_down)(graph.nodes[n], layout.nodes[n], layout.nodes[n + 1],
                                             title);
  }
  if (graph.closed && count > 1) {
    out += way_back(graph.nodes[count - 1], layout.nodes[count - 1], layout.nodes[0],
                    way_title(graph.nodes[count - 1], graph.nodes[0]));
  }
  return out;
}

/// From parents to what hangs on them, with the way's words or letter in front of the box.
Markup tree_ways(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    if (node.parent < 0) continue;
    const Box& box = layout.nodes[n];
    const Box& parent = layout.nodes[node.parent];
    const std::string title = way_title(node, graph.nodes[node.parent]);
    const std::string path = fmt::format("M{} {}H{}V{}H{}", parent.right(), parent.middle_y(),
                                         parent.right() + 8, box.middle_y(), box.x);
    out += svg_path("way", path, title);
    out += node.transport ? letter_at(box.x - 12, box.middle_y(), node, title)
                          : svg_text(box.x - 4, box.middle_y() - 3, "quiet", "end",
                                     clip(printable(node.link), 12));
  }
  return out;
}

/// A link between two boxes: straight between columns, bent at the right within one.
std::string link_path(const Box& from, const Box& to) {
  if (from.x == to.x) {
    return fmt::format("M{} {}C{} {} {} {} {} {}", from.right(), from.middle_y(), from.right() + 50,
                       from.middle_y(), to.right() + 50, to.middle_y(), to.right(), to.middle_y());
  }
  const Box& left = from.x < to.x ? from : to;
  const Box& right = from.x < to.x ? to : from;
  return fmt::format("M{} {}L{} {}", left.right(), left.middle_y(), right.x, right.middle_y());
}

Markup side_links(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  for (const GraphLink& link : graph.links) {
    const std::string title = fmt::format("{} to {}: {}", graph.nodes[link.from].label,
                                          graph.nodes[link.to].label, link.label);
    out += svg_path("side", link_path(layout.nodes[link.from], layout.nodes[link.to]), title);
  }
  return out;
}

Markup inside(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Box& box = layout.nodes[n];
    const std::string host = shown_host(graph, n);
    if (!host.empty()) out += svg_text(host_x(box), box.y - 7, "quiet", "start", host);
  }
  out += side_links(graph, layout);
  out += graph.is_ring ? ring_ways(graph, layout) : tree_ways(graph, layout);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const GraphNode& node = graph.nodes[n];
    const Box& box = layout.nodes[n];
    out += svg_rect(box, "box", node.detail.empty() ? node.label : node.detail) +
           svg_text(box.middle_x(), box.middle_y() + 4, "label", "middle", shown_label(node));
  }
  return out;
}

/// A line of text below what stands in a file. Moves `y` there.
Markup text_line(SourceText css, std::string_view text, int most, int& width, int& y) {
  const std::string shown = clip(printable(text), most);
  y += 18;
  width = std::max(width, 28 + text_width(shown));
  return svg_text(14, y, css, "start", shown);
}

/// A graph in a file: its title, what it looks like, its remarks. Moves `y` below it.
Markup placed_graph(const Graph& graph, int& width, int& y) {
  Markup out = text_line("label", graph.title, 120, width, y);
  for (const std::string& remark : graph.remarks) out += text_line("quiet", remark, 120, width, y);
  const GraphLayout layout = lay_out(graph);
  out +=
      html_element("g", {{"transform", fmt::format("translate(0 {})", y)}}, inside(graph, layout));
  width = std::max(width, layout.width);
  y += layout.height + 18;
  return out;
}

// The matrix of transports: a letter and a colour a cell, so that nobody has to tell colours apart.

constexpr size_t kMaxNameBytes = 40;

std::string words_of(const RankPath& cell) {
  if (!cell.detail.empty()) return cell.detail;
  std::string names;
  for (const TransportClass value : cell.classes) {
    names += (names.empty() ? "" : ", ") + std::string(row_of(value).name);
  }
  return fmt::format("{} of ranks: {}", plural(cell.pairs, "pair"), names);
}

Markup cell_markup(const RankPath& cell) {
  std::string letters;
  for (const TransportClass value : cell.classes) letters += row_of(value).letter;
  const bool mixed = cell.classes.size() > 1;
  const std::string css(mixed ? "mixed" : row_of(*cell.classes.begin()).css);
  return html_element("td", {{"class", css}, {"title", words_of(cell)}}, html_text(letters));
}

Markup head_of(const TransportMatrix& matrix) {
  Markup cells = html_element("th", {{"scope", "col"}}, html_literal("from\xC2\xA0\\\xC2\xA0to"));
  for (const std::string& name : matrix.names) {
    std::vector<Attribute> attributes = {{"scope", "col"}};
    if (matrix.by_host) attributes.push_back({"class", "host"});
    cells += html_element("th", attributes, html_text(name, kMaxNameBytes));
  }
  return html_element("thead", {}, html_element("tr", {}, cells));
}

Markup row_markup(const TransportMatrix& matrix, size_t row) {
  static const Markup kNothing = html_element("td", {});
  Markup cells =
      html_element("th", {{"scope", "row"}}, html_text(matrix.names[row], kMaxNameBytes));
  for (size_t column = 0; column < matrix.names.size(); ++column) {
    const auto cell = matrix.cells.find({row, column});
    cells += cell == matrix.cells.end() ? kNothing : cell_markup(cell->second);
  }
  return html_element("tr", {}, cells) + html_literal("\n");
}

/// What the letters and colours mean, of those classes that occur.
Markup key_of(const TransportMatrix& matrix) {
  std::set<TransportClass> used;
  for (const auto& [place, cell] : matrix.cells) {
    used.insert(cell.classes.begin(), cell.classes.end());
  }
  Markup rows;
  for (const TransportClass value : used) {
    const TransportClassRow& row = row_of(value);
    const Markup letter =
        html_element("b", {{"class", std::string(row.css)}}, html_text(std::string(1, row.letter)));
    rows += html_element("li", {}, letter + html_text(fmt::format(" {}: {}", row.name, row.help)));
  }
  return key_list(rows);
}

Markup drawn(const TransportMatrix& matrix, const std::string& name) {
  Markup rows;
  for (size_t row = 0; row < matrix.names.size(); ++row) rows += row_markup(matrix, row);
  const Markup table = html_element("table", {{"class", "matrix"}},
                                    head_of(matrix) + html_element("tbody", {}, rows));
  return key_of(matrix) + html_scroll_box(name, table);
}

Markup drawn(const Graph& graph, const std::string& name) {
  const GraphLayout layout = lay_out(graph);
  return html_scroll_box(name, svg_frame(layout.width, layout.height, graph.title,
                                         svg_title(graph.title) + inside(graph, layout)));
}

}  // namespace

GraphLayout lay_out(const Graph& graph) {
  return graph.is_ring ? lay_out_ring(graph) : lay_out_tree(graph);
}

std::string write_svg(const Drawing& drawing) {
  int width = 200;
  int y = 6;
  Markup body;
  const bool has_transport = std::ranges::any_of(drawing.graphs, [](const Graph& graph) {
    return std::ranges::any_of(graph.nodes,
                               [](const GraphNode& node) { return node.transport.has_value(); });
  });
  if (has_transport) {
    std::vector<std::string> legend;
    for (const TransportClassRow& row : kTransportClasses) {
      legend.push_back(fmt::format("{}: {}", row.letter, row.name));
    }
    body += text_line("quiet", join(legend, ", "), 160, width, y);
  }
  for (const std::string& note : drawing.notes) body += text_line("quiet", note, 160, width, y);
  for (const Graph& graph : drawing.graphs) body += placed_graph(graph, width, y);
  const Markup svg =
      svg_frame(width, y + 14, "",
                svg_title(drawing.title) + html_element("style", {}, html_literal(kDrawingStyle)) +
                    svg_rect({0, 0, width, y + 14}, "page") + body);
  // A file of its own says what its elements are; inside of a page HTML does.
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + svg.bytes().substr(4) + "\n";
}

Markup html_figure(const Figure& figure) {
  return std::visit([&](const auto& drawing) { return drawn(drawing, figure.name); },
                    figure.drawing);
}

}  // namespace ncclog
