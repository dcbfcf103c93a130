// A graph as SVG: inside a page, or as a file of its own.
//
// No script and nothing from elsewhere; a title at each box and line tells what it is. Classes are
// those of report/page_colours.h, which a page holds once and a file brings along.

#pragma once

#include <string>

#include "report/graph.h"
#include "report/html_text.h"

namespace ncclog {

/// One <svg> element, as wide as it wants to be.
Markup graph_svg(const Graph& graph);

/// A file with all graphs below each other, their titles, remarks and notes.
std::string write_svg(const Drawing& drawing);

}  // namespace ncclog
