// The page around a report: what it may load, how it looks, what its script does.
//
// A page is one file. Its content security policy forbids every request, and names by their hashes
// the one style sheet and the one script that may run, so that nothing a log says can ever act.
// Without the script everything can be read: tables are only searched and sorted by it.

#pragma once

#include <string>
#include <string_view>

#include "report/html_text.h"

namespace ncclog {

/// "default-src 'none'; script-src 'sha256-…'; …".
std::string content_security_policy();

/// A whole document, with a newline at the end. `title` may hold any bytes.
std::string html_page(std::string_view title, const Markup& body);

/// A section with a heading of the second level that `id` leads to.
Markup html_section(Literal id, Literal heading, const Markup& content);

/// <p>text</p>
Markup html_paragraph(std::string_view text);

/// A box that scrolls by itself if its content is wider than the screen; `name` says what it holds.
Markup html_scroll_box(std::string_view name, const Markup& content);

/// What is only shown to those who open it.
Markup html_details(const Markup& summary, const Markup& content, bool open = false);

}  // namespace ncclog
