#include "report/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/graph_layout.h"
#include "report/page_colours.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

constexpr int kRadius = 4;
constexpr size_t kMaxTitleBytes = 300;

Markup titled(std::string_view title) {
  return title.empty() ? Markup() : html_element("title", {}, plain_text(title, kMaxTitleBytes));
}

Markup text_at(int x, int y, Literal css, std::string_view anchor, std::string_view text) {
  return html_element("text",
                      {{"x", std::to_string(x)},
                       {"y", std::to_string(y)},
                       {"class", std::string(css.text())},
                       {"text-anchor", std::string(anchor)}},
                      plain_text(text, kMaxTitleBytes));
}

Markup rect(const Box& box, std::string_view css, const Markup& title = {}) {
  return html_element("rect",
                      {{"x", std::to_string(box.x)},
                       {"y", std::to_string(box.y)},
                       {"width", std::to_string(box.width)},
                       {"height", std::to_string(box.height)},
                       {"rx", std::to_string(kRadius)},
                       {"class", std::string(css)}},
                      title);
}

Markup line(Literal css, const std::string& path, std::string_view title) {
  return html_element("path", {{"class", std::string(css.text())}, {"d", path}}, titled(title));
}

/// An arrow's head that points at (x, y) to the right, or down.
Markup head_right(int x, int y) {
  return html_element("path", {{"class", "head"}, {"d", fmt::format("M{} {}l-7 -4v8z", x, y)}});
}

Markup head_down(int x, int y) {
  return html_element("path", {{"class", "head"}, {"d", fmt::format("M{} {}l-4 -7h8z", x, y)}});
}

Markup node_box(const GraphNode& node, const Box& box) {
  const std::string& detail = node.detail.empty() ? node.label : node.detail;
  return rect(box, "box", titled(detail)) +
         text_at(box.middle_x(), box.middle_y() + 4, "label", "middle", shown_label(node));
}

/// The letter of a way's transport in a box of its colour, with (x, y) in the middle.
Markup letter_at(int x, int y, const GraphNode& node, std::string_view title) {
  if (!node.transport) return {};
  const TransportClassRow& row = row_of(*node.transport);
  return rect({x - 7, y - 8, 14, 16}, row.css, titled(title)) +
         text_at(x, y + 4, "label", "middle", std::string(1, row.letter));
}

std::string way_title(const GraphNode& from, const GraphNode& to) {
  return fmt::format("{} to {}{}{}", from.label, to.label, from.link.empty() ? "" : ": ",
                     from.link);
}

/// From a box to the next one in its row.
Markup way_right(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int y = from.middle_y();
  return line("way", fmt::format("M{} {}H{}", from.right(), y, to.x - 6), title) +
         head_right(to.x - 1, y) + letter_at((from.right() + to.x) / 2 - 3, y, node, title);
}

/// From the end of a row to the beginning of the next one.
Markup way_down(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int low = from.bottom() + 8;
  const int x = from.right() + 9;
  const std::string path = fmt::format("M{} {}H{}V{}H{}V{}", from.right(), from.middle_y(), x, low,
                                       to.middle_x(), to.y - 6);
  return line("way", path, title) + head_down(to.middle_x(), to.y - 1) +
         letter_at(x, from.middle_y(), node, title);
}

/// From the last box back to the first, around the left edge.
Markup way_back(const GraphNode& node, const Box& from, const Box& to, std::string_view title) {
  const int low = from.bottom() + 12;
  const std::string path = fmt::format("M{} {}V{}H7V{}H{}", from.middle_x(), from.bottom(), low,
                                       to.middle_y(), to.x - 6);
  return line("way", path, title) + head_right(to.x - 1, to.middle_y()) +
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

/// From a parent to what hangs on it, with the way's words or letter in front of the box.
Markup tree_way(const GraphNode& node, const Box& box, const GraphNode& above, const Box& parent) {
  const int turn = parent.right() + 8;
  const std::string title = way_title(node, above);
  const std::string path = fmt::format("M{} {}H{}V{}H{}", parent.right(), parent.middle_y(), turn,
                                       box.middle_y(), box.x);
  Markup out = line("way", path, title);
  if (node.transport) return out + letter_at(box.x - 12, box.middle_y(), node, title);
  return out +
         text_at(box.x - 4, box.middle_y() - 3, "quiet", "end", clip(printable(node.link), 12));
}

Markup tree_ways(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].parent < 0) continue;
    const auto parent = static_cast<size_t>(graph.nodes[n].parent);
    out += tree_way(graph.nodes[n], layout.nodes[n], graph.nodes[parent], layout.nodes[parent]);
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
    const auto from = static_cast<size_t>(link.from);
    const auto to = static_cast<size_t>(link.to);
    const std::string title =
        fmt::format("{} to {}: {}", graph.nodes[from].label, graph.nodes[to].label, link.label);
    out += line("side", link_path(layout.nodes[from], layout.nodes[to]), title);
  }
  return out;
}

Markup group_labels(const Graph& graph, const GraphLayout& layout) {
  Markup out;
  for (const GroupLabel& label : layout.groups) {
    const std::string name = shown_group(graph, label.group);
    if (!name.empty()) out += text_at(label.x, label.y, "quiet", "start", name);
  }
  return out;
}

Markup inside(const Graph& graph, const GraphLayout& layout) {
  const bool ring = graph.shape == GraphShape::Ring;
  Markup out = group_labels(graph, layout) + side_links(graph, layout) +
               (ring ? ring_ways(graph, layout) : tree_ways(graph, layout));
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    out += node_box(graph.nodes[n], layout.nodes[n]);
  }
  return out;
}

std::vector<Attribute> frame(int width, int height) {
  return {{"class", "drawing"},
          {"width", std::to_string(width)},
          {"height", std::to_string(height)},
          {"viewBox", fmt::format("0 0 {} {}", width, height)},
          {"role", "img"}};
}

/// A graph in a file: its title, what it looks like, its remarks. Moves `y` below it.
Markup placed_graph(const Graph& graph, int& width, int& y) {
  constexpr int kLine = 18;
  Markup out = text_at(14, y + kLine, "label", "start", clip(printable(graph.title), 120));
  y += kLine;
  for (const std::string& remark : graph.remarks) {
    y += kLine;
    out += text_at(14, y, "quiet", "start", clip(printable(remark), 120));
    width = std::max(width, 28 + text_width(clip(printable(remark), 120)));
  }
  const GraphLayout layout = lay_out(graph);
  out +=
      html_element("g", {{"transform", fmt::format("translate(0 {})", y)}}, inside(graph, layout));
  width = std::max({width, layout.width, 28 + text_width(clip(printable(graph.title), 120))});
  y += layout.height + kLine;
  return out;
}

/// The classes that ways are drawn in, as a line of letters.
Markup legend(int& width, int& y) {
  std::string text;
  for (const TransportClassRow& row : transport_classes()) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", row.letter, row.name);
  }
  y += 18;
  width = std::max(width, 28 + text_width(text));
  return text_at(14, y, "quiet", "start", text);
}

bool has_transport(const Drawing& drawing) {
  return std::any_of(drawing.graphs.begin(), drawing.graphs.end(), [](const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const GraphNode& node) { return node.transport.has_value(); });
  });
}

}  // namespace

Markup graph_svg(const Graph& graph) {
  const GraphLayout layout = lay_out(graph);
  std::vector<Attribute> attributes = frame(layout.width, layout.height);
  attributes.push_back({"aria-label", graph.title});
  return html_element("svg", attributes, titled(graph.title) + inside(graph, layout));
}

std::string write_svg(const Drawing& drawing) {
  int width = 200;
  int y = 6;
  Markup body;
  if (has_transport(drawing)) body += legend(width, y);
  for (const std::string& note : drawing.notes) {
    y += 18;
    body += text_at(14, y, "quiet", "start", clip(printable(note), 160));
    width = std::max(width, 28 + text_width(clip(printable(note), 160)));
  }
  for (const Graph& graph : drawing.graphs) body += placed_graph(graph, width, y);
  std::vector<Attribute> attributes = frame(width, y + 14);
  attributes.insert(attributes.begin(), {"xmlns", "http://www.w3.org/2000/svg"});
  return html_element("svg", attributes,
                      titled(drawing.title) +
                          html_element("style", {}, html_literal(kDrawingStyle)) +
                          rect({0, 0, width, y + 14}, "page") + body)
             .bytes() +
         "\n";
}

}  // namespace ncclog
