// What is drawn: graphs, transports as a matrix, and charts (report/html/charts.cc): ranks by host,
// the time line, bars, curves. Colours never tell anything alone. A graph stands in a page or in a
// file of its own:
//
//   ring: hosts below each other, their ranks from left to right     tree: root at the left, each
//   in rows of eight                                                 leaf in a row of its own
//
// No script and nothing from elsewhere; a title at each box and line tells what it is. Classes are
// those of drawing.css, which a page holds once and a file brings along. The same graph
// always looks the same.

#pragma once

#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/html/html_text.h"
#include "report/html/svg.h"

namespace ncclog {

struct GraphLayout {
  int width = 0;
  int height = 0;
  std::vector<Box> nodes;  ///< As Graph::nodes.
};

GraphLayout lay_out(const Graph& graph);

/// A file with all graphs below each other, their titles, remarks and notes.
std::string write_svg(const Drawing& drawing);

/// The drawing with its key, in a box that scrolls.
Markup html_figure(const Figure& figure);

}  // namespace ncclog
