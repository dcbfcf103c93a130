#include "report/html_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "report/html_page.h"

namespace ncclog {
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
