#include "report/html/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "report/html/page_files.h"

namespace ncclog {
namespace {

/// Names by their hashes the one style sheet and the one script that may run.
std::string content_security_policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      sha256_base64(std::string(kDrawingStyle) + kPageStyle), sha256_base64(kPageScript));
}

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

std::string html_page(std::string_view title, const Markup& body) {
  const Markup script = html_element("script", {}, html_literal(kPageScript));
  const Markup document =
      html_element("html", {{"lang", "en"}},
                   html_element("head", {}, head(title)) + html_element("body", {}, body + script));
  return "<!DOCTYPE html>\n" + document.bytes() + "\n";
}

Markup html_paragraph(const Markup& text) {
  return html_element("p", {}, text) + html_literal("\n");
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

Markup body_row(const std::vector<Cell>& row, const std::vector<Column>& columns) {
  constexpr size_t kMaxBytes = 240;
  Markup cells;
  for (const Column& column : columns) {
    const Markup text = html_text(cell_text(row[column.index]), kMaxBytes);
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

Markup html_table(const Table& table, std::string_view name, size_t most) {
  const std::vector<Column> columns = shown_columns(table);
  Markup out;
  if (!columns.empty()) {
    Markup rows;
    for (size_t r = 0; r < std::min(table.rows.size(), most); ++r) {
      rows += body_row(table.rows[r], columns);
    }
    const Markup body = html_element("tbody", {}, rows);
    if (table.rows.size() >= kRowsWorthSearching) out += search_box(name);
    out += html_scroll_box(
        name, html_element("table", {{"class", "sortable"}}, head_row(table, columns) + body));
  }
  if (table.rows.size() > most) {
    out +=
        html_paragraph(html_text(fmt::format("{} of {} rows are shown; 'ncclog show {}' lists all.",
                                             most, table.rows.size(), table.name)));
  }
  for (const std::string& note : table.notes) {
    out += html_element("p", {{"class", "quiet"}}, html_text(note));
  }
  return out;
}

}  // namespace ncclog
