#include "report/html/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/hash.h"

namespace ncclog {
namespace {

// Style sheet and script hold no '<' and no '&': a page is well-formed XML as well.

constexpr const char* kPageStyle = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header,main,footer{max-width:80rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
main{overflow-wrap:anywhere}
footer{padding-bottom:2rem;color:var(--quiet);font-size:.875rem}
h1{font-size:1.45rem;line-height:1.3;margin:.25rem 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.25rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:0 0 .25rem}
h4{font-size:.875rem;margin:.9rem 0 .2rem;color:var(--quiet);font-weight:600}
p{margin:.4rem 0;max-width:52rem}
ul{margin:.2rem 0;padding-left:1.3rem;max-width:52rem}
a{color:var(--info)}
code,pre,.mono{font-family:ui-monospace,"DejaVu Sans Mono",Consolas,monospace;font-size:.8125rem}
pre{margin:.2rem 0;padding:.5rem .7rem;background:var(--soft);border-radius:4px;
white-space:pre-wrap;overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;list-style:none;max-width:none}
.word{margin:0;font-weight:700;letter-spacing:.06em;text-transform:uppercase}
.error{color:var(--error)}
.warning{color:var(--warning)}
.good{color:var(--good)}
.info{color:var(--info)}
.quiet,.cut{color:var(--quiet)}
.verdict{border-left:.4rem solid currentColor;padding-left:.9rem}
.verdict h1,.verdict p{color:var(--fg)}
.verdict .word{color:inherit}
.finding{margin:1rem 0;padding:.8rem 1rem;border:1px solid var(--line);border-left-width:.35rem;
border-radius:4px}
.finding.error,.finding.warning,.finding.info{color:var(--fg)}
.finding.error{border-left-color:var(--error)}
.finding.warning{border-left-color:var(--warning)}
.finding.info{border-left-color:var(--info)}
.standing{margin:0 0 .4rem;color:var(--quiet);font-size:.875rem}
.standing b{font-weight:600}
.place{margin:.5rem 0 0;font-size:.8125rem}
details{margin:.6rem 0}
.finding>details{margin:0}
summary{cursor:pointer}
summary h3{display:inline}
dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.4rem 0}
dl.facts dt{color:var(--quiet)}
dl.facts dd{margin:0;min-width:0}
.scroll{overflow-x:auto;max-width:100%;margin:.4rem 0}
table{border-collapse:collapse;font-size:.8125rem;line-height:1.35;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--quiet);padding:.2rem 0}
th,td{padding:.22rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
font-weight:400;white-space:nowrap}
thead th{font-weight:600;white-space:nowrap;border-bottom:2px solid var(--line)}
td.num,th.num{text-align:right}
.wide{min-width:24rem;max-width:46rem;white-space:normal;overflow-wrap:anywhere}
tr.odd td,tr.odd th{background:var(--soft)}
th button{all:unset;cursor:pointer;padding-right:1em;position:relative}
th button:focus-visible,summary:focus-visible,a:focus-visible,.scroll:focus-visible{
outline:2px solid var(--info);outline-offset:2px}
th button::after{content:"\2195";position:absolute;right:0;color:var(--quiet)}
th[aria-sort=ascending] button::after{content:"\2191";color:var(--fg)}
th[aria-sort=descending] button::after{content:"\2193";color:var(--fg)}
.find{display:flex;flex-wrap:wrap;gap:.3rem .7rem;align-items:center}
.find[hidden]{display:none}
.find input::placeholder{color:var(--quiet);opacity:1}
.find input{font:inherit;font-size:.875rem;padding:.15rem .4rem;color:var(--fg);background:var(--bg);
border:1px solid var(--quiet);border-radius:4px;width:16rem;max-width:100%}
.states{display:flex;flex-wrap:wrap;gap:.3rem 1rem;padding:0;list-style:none}
.matrix td,.matrix th{padding:0 .3rem;border:1px solid var(--line);text-align:center;min-width:1.5rem}
.matrix thead th{font-weight:400;vertical-align:bottom}
.matrix .host{writing-mode:vertical-rl;text-align:left;padding:.3rem 0}
.matrix tbody th{white-space:nowrap;text-align:right}
.mixed{font-weight:700;background:var(--soft)}
.key{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;padding:0;list-style:none;font-size:.875rem}
.key b{display:inline-block;min-width:1.4rem;text-align:center;font-weight:400}
.key svg{vertical-align:-1px}
.label{font-size:12px}
@media print{nav,.find{display:none}html{font-size:11px}.scroll{overflow:visible}
.finding,tr,svg{break-inside:avoid}details::details-content{content-visibility:visible;height:auto}
th button::after{content:""}}
)css";

constexpr const char* kScript = R"js(
(() => {
  "use strict";
  const order = (a, b) => {
    const difference = Number(a) - Number(b);
    return Number.isNaN(difference) ? a.localeCompare(b, "en", {numeric: true}) : difference;
  };
  const sort = (table, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = (row) => row.cells[heading.cellIndex].textContent;
    const rows = Array.from(table.tBodies[0].rows).sort((a, b) => {
      const x = text(a);
      const y = text(b);
      if (x === "" || y === "") return (x === "") - (y === "");
      return up ? order(x, y) : order(y, x);
    });
    table.tBodies[0].append(...rows);
  };
  const search = (table, words, status) => {
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = words === "" ? "" : `${shown} of ${rows.length} rows`;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }
  for (const find of document.querySelectorAll(".find")) {
    const table = find.nextElementSibling.querySelector("table");
    const status = find.querySelector("[role=status]");
    find.querySelector("input").addEventListener("input", (event) => {
      search(table, event.target.value.trim().toLowerCase(), status);
    });
    find.hidden = false;
  }
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
)js";

std::string style_text() { return std::string(kDrawingStyle) + kPageStyle; }

Markup head(std::string_view title) {
  return html_element("meta", {{"charset", "utf-8"}}) +
         html_element("meta", {{"http-equiv", "Content-Security-Policy"},
                               {"content", content_security_policy()}}) +
         html_element("meta",
                      {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
         html_element("meta", {{"name", "referrer"}, {"content", "no-referrer"}}) +
         html_element("title", {}, plain_text(title, 160)) +
         html_element("link", {{"rel", "icon"}, {"href", "data:,"}}) +
         html_element("style", {}, html_literal(kDrawingStyle) + html_literal(kPageStyle));
}

}  // namespace

std::string content_security_policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      sha256_base64(style_text()), sha256_base64(kScript));
}

std::string html_page(std::string_view title, const Markup& body) {
  const Markup script = html_element("script", {}, html_literal(kScript));
  const Markup document =
      html_element("html", {{"lang", "en"}},
                   html_element("head", {}, head(title)) + html_element("body", {}, body + script));
  return "<!DOCTYPE html>\n" + document.bytes() + "\n";
}

Markup html_section(Literal id, Literal heading, const Markup& content) {
  return html_element("section", {{"id", std::string(id.text())}},
                      html_element("h2", {}, html_literal(heading)) + content) +
         html_literal("\n");
}

Markup html_paragraph(std::string_view text) {
  return html_element("p", {}, html_text(text)) + html_literal("\n");
}

Markup html_scroll_box(std::string_view name, const Markup& content) {
  return html_element("div",
                      {{"class", "scroll"},
                       {"tabindex", "0"},
                       {"role", "region"},
                       {"aria-label", std::string(name)}},
                      content) +
         html_literal("\n");
}

Markup html_details(const Markup& summary, const Markup& content, bool open) {
  std::vector<Attribute> attributes;
  if (open) attributes.push_back({"open", ""});
  return html_element("details", attributes, html_element("summary", {}, summary) + content) +
         html_literal("\n");
}

namespace {

/// A table of fewer rows is seen at a glance.
constexpr size_t kRowsWorthSearching = 5;

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

/// A column that is shown.
struct Column {
  size_t index = 0;
  bool numeric = true;  ///< Holds nothing but numbers.
  bool wide = false;    ///< Holds long texts, which may wrap.
};

std::vector<Column> shown_columns(const Table& table) {
  constexpr size_t kWide = 40;
  std::vector<Column> columns;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    Column column{.index = c};
    bool any = false;
    for (const auto& row : table.rows) {
      if (std::holds_alternative<std::monostate>(row[c])) continue;
      any = true;
      const auto* text = std::get_if<std::string>(&row[c]);
      column.numeric = column.numeric && text == nullptr;
      column.wide = column.wide || (text != nullptr && text->size() > kWide);
    }
    if (any) columns.push_back(column);
  }
  return columns;
}

std::vector<Attribute> cell_class(const Column& column) {
  if (column.numeric) return {{"class", "num"}};
  if (column.wide) return {{"class", "wide"}};
  return {};
}

/// "last_at" → "last at".
std::string heading_text(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Markup head_row(const Table& table, const std::vector<Column>& columns) {
  Markup cells;
  for (const Column& column : columns) {
    std::vector<Attribute> attributes = {{"scope", "col"}};
    if (column.numeric) attributes.push_back({"class", "num"});
    cells += html_element("th", attributes, html_text(heading_text(table.columns[column.index])));
  }
  return html_element("thead", {}, html_element("tr", {}, cells));
}

Markup body_row(const std::vector<Cell>& row, const std::vector<Column>& columns, size_t most) {
  Markup cells;
  for (const Column& column : columns) {
    const Markup text = html_text(cell_text(row[column.index]), most);
    std::vector<Attribute> attributes = cell_class(column);
    const bool heads = &column == &columns.front();
    if (heads) attributes.push_back({"scope", "row"});
    cells += heads ? html_element("th", attributes, text) : html_element("td", attributes, text);
  }
  return html_element("tr", {}, cells) + html_literal("\n");
}

/// Hidden until the script shows it.
Markup search_box(std::string_view name) {
  const Markup input = html_element("input", {{"type", "search"},
                                              {"aria-label", "Search " + std::string(name)},
                                              {"placeholder", "Search"},
                                              {"autocomplete", "off"}});
  return html_element("div", {{"class", "find"}, {"hidden", ""}},
                      input + html_element("span", {{"role", "status"}, {"class", "quiet"}}));
}

}  // namespace

Markup html_table(const Table& table, std::string_view name, const HtmlTableLimits& limits) {
  const std::vector<Column> columns = shown_columns(table);
  Markup out;
  if (!columns.empty()) {
    Markup rows;
    for (size_t r = 0; r < std::min(table.rows.size(), limits.rows); ++r) {
      rows += body_row(table.rows[r], columns, limits.cell_bytes);
    }
    const Markup body = html_element("tbody", {}, rows);
    if (table.rows.size() >= kRowsWorthSearching) out += search_box(name);
    out += html_scroll_box(
        name, html_element("table", {{"class", "sortable"}}, head_row(table, columns) + body));
  }
  if (table.rows.size() > limits.rows) {
    out += html_paragraph(fmt::format("{} of {} rows are shown; 'ncclog show {}' lists all.",
                                      limits.rows, table.rows.size(), table.name));
  }
  for (const std::string& note : table.notes) {
    out += html_element("p", {{"class", "quiet"}}, html_text(note));
  }
  return out;
}

}  // namespace ncclog
