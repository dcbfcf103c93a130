// What is a page made of: the document with its policy, style and script, sections, tables?
//
// A page is one file. Its content security policy forbids every request, and names by their hashes
// the one style sheet and the one script that may run, so that nothing a log says can ever act.
// Without the script everything can be read: tables are only searched and sorted by it. Style sheet
// and script are page.css, drawing.css and page.js beside this file. They hold no '<' and no '&',
// for a page is well-formed XML as well.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/html/html_text.h"
#include "report/tables/table.h"

namespace ncclog {

/// A whole document, with a newline at the end. `title` may hold any bytes.
std::string html_page(std::string_view title, const Markup& body);

/// <p>text</p>
Markup html_paragraph(const Markup& text);

/// A box that scrolls by itself if its content is wider than the screen; `name` says what it holds.
Markup html_scroll_box(std::string_view name, const Markup& content);

/// What is only shown to those who open it.
Markup html_details(const Markup& summary, const Markup& content, bool open = false);

// A table of report/tables/table.h on a page, with a box to search it and headings that sort it.

/// The table in a box that scrolls, its notes below it. Columns without any value are left out, and
/// so are rows beyond `most`, which a note counts. `name` is what screen readers call it.
Markup html_table(const Table& table, std::string_view name, size_t most = 1200);

}  // namespace ncclog
