// What is a page made of: the document with its policy, style and script, sections, tables?
//
// A page is one file. Its content security policy forbids every request, and names by their hashes
// the one style sheet and the one script that may run, so that nothing a log says can ever act.
// Without the script everything can be read: tables are only searched and sorted by it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/html/html_text.h"
#include "report/tables/table.h"

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

// A table of report/tables/table.h on a page, with a box to search it and headings that sort it.

/// How much of a table a page shows.
struct HtmlTableLimits {
  size_t rows = 400;
  size_t cell_bytes = 240;
};

/// The table in a box that scrolls, its notes below it. Columns without any value are left out, and
/// so are rows beyond the limit, which a note counts. `name` is what screen readers call it.
Markup html_table(const Table& table, std::string_view name, const HtmlTableLimits& limits = {});

// The colours of pages and drawings, for light and for dark screens.
//
// Every text stands at 4.5 to 1 or better on what is behind it; a test measures that in a browser.

/// Variables and the classes of drawings, as a style sheet. Without '<' and '&', so that it is
/// well-formed inside of XML.
inline constexpr const char* kDrawingStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#f1f4f7;--line:#c3cbd3;--quiet:#525c67;
--error:#b3151d;--warning:#854700;--good:#1a6b2f;--info:#0b57a4;
--tp:#cdebd5;--ts:#fbe2b5;--ti:#cfe1fb;--tt:#f9d0d0;--tn:#e4d5f6;--to:#dfe3e8;
--b0:#4e9a63;--b1:#5b8fd6;--b2:#d99a3a;--b3:#a678d2;--b4:#d0697a;--b5:#4ba3a8;--b6:#9aa05a;--b7:#8b95a1}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e4e8ec;--soft:#1e242b;--line:#46515c;
--quiet:#a9b3be;--error:#ff938c;--warning:#f0b35a;--good:#79d28d;--info:#8bbcff;
--tp:#1d4a2b;--ts:#573f0f;--ti:#1b3c6d;--tt:#672424;--tn:#46306a;--to:#38414b}}
.drawing{background:var(--bg);font:12px ui-monospace,"DejaVu Sans Mono",monospace}
.drawing text{fill:var(--fg)}
.drawing .quiet{fill:var(--quiet)}
.drawing .page{fill:var(--bg)}
.drawing .box{fill:var(--soft);stroke:var(--quiet)}
.drawing .way{fill:none;stroke:var(--quiet);stroke-width:1.5}
.drawing .side{fill:none;stroke:var(--quiet);stroke-dasharray:4 3}
.drawing .head{fill:var(--quiet);stroke:none}
.drawing .axis{stroke:var(--line)}
.drawing .span{fill:var(--ti);stroke:var(--info)}
.drawing .mark{fill:var(--quiet)}
.drawing .markbad{fill:var(--error)}
.drawing .markgood{fill:var(--good)}
.tp{fill:var(--tp);background:var(--tp)}
.ts{fill:var(--ts);background:var(--ts)}
.ti{fill:var(--ti);background:var(--ti)}
.tt{fill:var(--tt);background:var(--tt)}
.tn{fill:var(--tn);background:var(--tn)}
.to{fill:var(--to);background:var(--to)}
.b0{fill:var(--b0)}
.b1{fill:var(--b1)}
.b2{fill:var(--b2)}
.b3{fill:var(--b3)}
.b4{fill:var(--b4)}
.b5{fill:var(--b5)}
.b6{fill:var(--b6)}
.b7{fill:var(--b7)}
)css";

}  // namespace ncclog
