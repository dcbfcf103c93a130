#include "report/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ncclog {
namespace {

using Json = nlohmann::ordered_json;

Json json_cell(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return *number;
  if (const auto* text = std::get_if<std::string>(&cell)) return to_valid_utf8(*text);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return nullptr;
}

/// {"rank": 0, "host": "gpu-node-01", "pid": null}
Json json_row(std::span<const std::string> columns, std::span<const Cell> cells) {
  Json row = Json::object();
  for (size_t c = 0; c < cells.size(); ++c) row[columns[c]] = json_cell(cells[c]);
  return row;
}

std::string shown(const Cell& cell) { return printable(cell_text(cell)); }

int column_width(const Table& table, size_t column) {
  int width = display_width(table.columns[column]);
  for (const auto& row : table.rows) width = std::max(width, display_width(shown(row[column])));
  return width;
}

/// How a column is set.
struct Layout {
  size_t column = 0;
  int width = 0;
  bool right = false;  ///< Numbers are aligned at their last digit.
};

std::vector<Layout> lay_out(const Table& table) {
  std::vector<Layout> layout;
  for (const ShownColumn& column : shown_columns(table)) {
    layout.push_back({column.index, column_width(table, column.index), column.numeric});
  }
  return layout;
}

std::string aligned(const std::string& text, const Layout& column) {
  if (!column.right) return pad(text, column.width);
  return std::string(static_cast<size_t>(std::max(0, column.width - display_width(text))), ' ') +
         text;
}

template <typename TextOf>
std::string text_line(const std::vector<Layout>& layout, int width, TextOf text_of) {
  std::string line;
  for (const Layout& column : layout) {
    if (!line.empty()) line += "  ";
    line += aligned(text_of(column.column), column);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return width > 0 ? clip(line, width) : line;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

std::string csv_cell(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return csv_field(text == nullptr ? shown(cell) : to_valid_utf8(*text));
}

template <typename Fields, typename TextOf>
std::string csv_line(const Fields& fields, TextOf text_of) {
  std::string line;
  bool first = true;
  for (const auto& field : fields) {
    if (!first) line += ',';
    first = false;
    line += text_of(field);
  }
  return line + "\n";
}

}  // namespace

Cell number_cell(int64_t value) {
  if (value < 0) return {};
  return value;
}

Cell text_cell(std::string_view value) {
  if (value.empty()) return {};
  return std::string(value);
}

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

std::vector<ShownColumn> shown_columns(const Table& table) {
  constexpr size_t kWide = 40;
  std::vector<ShownColumn> columns;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    ShownColumn column{.index = c};
    bool any = false;
    for (const auto& row : table.rows) {
      const auto* text = std::get_if<std::string>(&row[c]);
      any = any ||
            (text == nullptr ? !std::holds_alternative<std::monostate>(row[c]) : !text->empty());
      column.numeric = column.numeric && text == nullptr;
      column.wide = column.wide || (text != nullptr && text->size() > kWide);
    }
    if (any) columns.push_back(column);
  }
  return columns;
}

std::string column_heading(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string write_table_text(const Table& table, const TextStyle& style, bool fit) {
  std::string out;
  const int width = fit ? std::max(style.width, TextStyle::kMinWidth) : 0;
  if (!table.rows.empty()) {
    const std::vector<Layout> layout = lay_out(table);
    out += paint(text_line(layout, width, [&](size_t c) { return table.columns[c]; }), Tone::Strong,
                 style) +
           "\n";
    for (const auto& row : table.rows) {
      out += text_line(layout, width, [&](size_t c) { return shown(row[c]); }) + "\n";
    }
  }
  if (!out.empty() && !table.notes.empty()) out += "\n";
  for (const std::string& note : table.notes) out += hang("", printable(note), style);
  return out;
}

std::string jsonl_row(std::span<const std::string> columns, std::span<const Cell> cells) {
  return json_row(columns, cells).dump() + "\n";
}

std::string csv_row(std::span<const Cell> cells) { return csv_line(cells, csv_cell); }

std::string write_table_csv(const Table& table) {
  std::string out = csv_line(table.columns, csv_field);
  for (const auto& row : table.rows) out += csv_row(row);
  return out;
}

namespace {

/// The value as it stands `indent` spaces deep in a document.
std::string indented(const Json& json, int indent) {
  std::string text;
  for (const char c : json.dump(2)) {
    text += c;
    if (c == '\n') text.append(static_cast<size_t>(indent), ' ');
  }
  return text;
}

}  // namespace

void write_stream_csv(const TableStream& table, const TextTaker& take) {
  if (!take(write_table_csv({.name = table.name, .columns = table.columns}))) return;
  table.each_row([&](std::span<const Cell> cells) { return take(csv_row(cells)); });
}

void write_stream_json(const TableStream& table, const TextTaker& take) {
  const std::string name = Json(to_valid_utf8(table.name)).dump();
  bool wanted =
      take("{\n  \"schema\": \"ncclog.table/1\",\n  \"table\": " + name + ",\n  \"rows\": [");
  std::string_view before = "\n    ";
  table.each_row([&](std::span<const Cell> cells) {
    wanted = wanted && take(std::string(before) + indented(json_row(table.columns, cells), 4));
    before = ",\n    ";
    return wanted;
  });
  if (!wanted) return;
  Json notes = Json::array();
  for (const std::string& note : table.notes) notes.push_back(to_valid_utf8(note));
  const bool has_rows = before.front() == ',';
  take((has_rows ? "\n  ]" : "]") + std::string(",\n  \"notes\": ") + indented(notes, 2) + "\n}\n");
}

std::string write_table_json(const Table& table) {
  std::string out;
  write_stream_json({.name = table.name,
                     .columns = table.columns,
                     .notes = table.notes,
                     .each_row =
                         [&](const RowTaker& take) {
                           for (const auto& row : table.rows) take(row);
                         }},
                    [&](std::string_view text) {
                      out += text;
                      return true;
                    });
  return out;
}

}  // namespace ncclog
