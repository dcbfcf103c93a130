// A graph as SVG: where its boxes stand, and the drawing, inside a page or as a file of its own.
//
//   ring: hosts below each other, their ranks from left to right     tree: root at the left, each
//   in rows of eight                                                 leaf in a row of its own
//
// No script and nothing from elsewhere; a title at each box and line tells what it is. Classes are
// those of drawing.css, which a page holds once and a file brings along. The same graph
// always looks the same.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/graph/graph.h"
#include "report/html/html_text.h"

namespace ncclog {

/// A rectangle; x and y of its upper left corner.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const { return x + width; }
  int bottom() const { return y + height; }
  int middle_x() const { return x + width / 2; }
  int middle_y() const { return y + height / 2; }
};

/// A name of a group above the row that begins with it.
struct GroupLabel {
  int x = 0;
  int y = 0;  ///< Of the base line.
  int group = -1;
};

struct GraphLayout {
  int width = 0;
  int height = 0;
  std::vector<Box> nodes;  ///< As Graph::nodes.
  std::vector<GroupLabel> groups;
};

GraphLayout lay_out(const Graph& graph);

// What drawings are made of. Titles are what browsers show of a shape that is pointed at.

Markup svg_title(std::string_view title);
Markup svg_text(int x, int y, Literal css, std::string_view anchor, std::string_view text);
Markup svg_rect(const Box& box, std::string_view css, std::string_view title = {});
Markup svg_path(Literal css, const std::string& path, std::string_view title = {});

/// One <svg> element of that size; `name` is what screen readers call it, empty where a
/// title tells it.
Markup svg_frame(int width, int height, std::string_view name, const Markup& inside);

/// One <svg> element, as wide as it wants to be.
Markup graph_svg(const Graph& graph);

/// A file with all graphs below each other, their titles, remarks and notes.
std::string write_svg(const Drawing& drawing);

}  // namespace ncclog
