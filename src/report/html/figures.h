// What is drawn on a page: graphs, transports as a matrix, calls by iteration as bars, the time
// line of processes. Colours never tell anything alone.

#pragma once

#include "report/document/document.h"
#include "report/html/html_text.h"

namespace ncclog {

/// The drawing with its key, in a box that scrolls.
Markup html_figure(const Figure& figure);

}  // namespace ncclog
