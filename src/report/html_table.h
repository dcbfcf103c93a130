// A table of report/table.h on a page, with a box to search it and headings that sort it.

#pragma once

#include <cstddef>
#include <string_view>

#include "report/html_text.h"
#include "report/table.h"

namespace ncclog {

/// How much of a table a page shows.
struct HtmlTableLimits {
  size_t rows = 400;
  size_t cell_bytes = 240;
};

/// The table in a box that scrolls, its notes below it. Columns without any value are left out, and
/// so are rows beyond the limit, which a note counts. `name` is what screen readers call it.
Markup html_table(const Table& table, std::string_view name, const HtmlTableLimits& limits = {});

}  // namespace ncclog
