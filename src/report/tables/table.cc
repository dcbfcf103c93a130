#include "report/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/safe_json.h"
#include "diagnose/perf/verdict/perf_words.h"
#include "model/job.h"

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

/// What a person reads in a column: bytes with a unit, all else as it stands.
std::string shown(const Table& table, size_t column, const Cell& cell) {
  const auto* number = std::get_if<int64_t>(&cell);
  const bool is_bytes = number != nullptr && table.columns[column] == "bytes";
  return is_bytes ? bytes_text(*number) : printable(cell_text(cell));
}

int column_width(const Table& table, size_t column) {
  int width = display_width(table.columns[column]);
  for (const auto& row : table.rows) {
    width = std::max(width, display_width(shown(table, column, row[column])));
  }
  return width;
}

/// Says which columns a terminal of that width has no room for, and what shows them.
std::string hidden_note(const Table& table, std::span<const ShownColumn> columns,
                        std::span<const int> widths, int width) {
  std::vector<std::string> hidden;
  int begin = 0;
  for (const ShownColumn& column : columns) {
    if (begin >= width) hidden.push_back(table.columns[column.index]);
    begin += widths[column.index] + 2;
  }
  if (hidden.empty()) return {};
  return fmt::format("No room at {} columns for {}: '| less -S' or --format csv has all.", width,
                     join(hidden, ", "));
}

/// The text of each shown column, as wide as `widths`; cut to `width` columns if that is above 0.
template <typename TextOf>
std::string text_line(const std::vector<ShownColumn>& columns, const std::vector<int>& widths,
                      int width, TextOf text_of) {
  std::string line;
  for (const ShownColumn& column : columns) {
    const std::string text = text_of(column.index);
    const int own = widths[column.index];
    if (!line.empty()) line += "  ";
    // Numbers are aligned at their last digit.
    if (column.numeric) line += pad("", own - display_width(text));
    line += column.numeric ? text : pad(text, own);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return width > 0 ? clip(line, width) : line;
}

/// Spreadsheets take a text for a formula that begins like one, with ASCII's signs or wide ones, and
/// run it: "=cmd|…". A quote before it makes it text. "-1.5" is a number.
bool may_run(std::string_view text) {
  constexpr std::string_view kStarts[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  return text.size() > 1 && starts_with_one_of(trim(text), kStarts) && !parse_decimal(text);
}

std::string csv_cell(const Cell& cell) {
  const auto* bytes = std::get_if<std::string>(&cell);
  if (bytes == nullptr) return cell_text(cell);
  std::string text = (may_run(*bytes) ? "'" : "") + printable(*bytes);
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string place_name(const std::string& path, uint64_t line) {
  return line == 0 ? path : fmt::format("{}:{}", path, line);
}

std::string place_name(const Job& job, SourceRef where) {
  const FileLine place = file_line(job, where);
  return place_name(place.path, where.line == 0 ? 0 : place.line);
}

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

void Table::each_row(const RowTaker& take) const {
  for (const auto& row : rows) {
    if (!take(row)) return;
  }
  if (further) further(take);
}

bool Table::keep_rows(size_t most) {
  bool is_whole = true;
  if (!further) return is_whole;
  std::exchange(further, {})([&](std::span<const Cell> cells) {
    is_whole = rows.size() < most;
    if (is_whole) rows.emplace_back(cells.begin(), cells.end());
    return is_whole;
  });
  return is_whole;
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
  std::string hidden;
  const int width = fit ? std::max(style.width, TextStyle::kMinWidth) : 0;
  if (!table.rows.empty()) {
    const std::vector<ShownColumn> columns = shown_columns(table);
    std::vector<int> widths(table.columns.size());
    for (const ShownColumn& column : columns) {
      widths[column.index] = column_width(table, column.index);
    }
    const std::string heading =
        text_line(columns, widths, width, [&](size_t c) { return table.columns[c]; });
    out += paint(heading, Tone::Strong, style) + "\n";
    for (const auto& row : table.rows) {
      out += text_line(columns, widths, width, [&](size_t c) { return shown(table, c, row[c]); }) +
             "\n";
    }
    if (width > 0) hidden = hidden_note(table, columns, widths, width);
  }
  if (!out.empty() && !(table.notes.empty() && hidden.empty())) out += "\n";
  if (!hidden.empty()) out += hang("", hidden, style);
  for (const std::string& note : table.notes) out += hang("", printable(note), style);
  return out;
}

std::string csv_row(std::span<const Cell> cells) {
  std::string line;
  for (const Cell& cell : cells) line += (&cell == &cells.front() ? "" : ",") + csv_cell(cell);
  return line + "\n";
}

namespace {

/// The value as it stands `indent` spaces deep in a document.
std::string indented(const Json& json, int indent) {
  std::string text;
  for (const char c : safe_json(json.dump(2))) {
    text += c;
    if (c == '\n') text.append(static_cast<size_t>(indent), ' ');
  }
  return text;
}

}  // namespace

void write_table_csv(const Table& table, const TextTaker& take) {
  const std::vector<Cell> heading(table.columns.begin(), table.columns.end());
  if (!take(csv_row(heading))) return;
  table.each_row([&](std::span<const Cell> cells) { return take(csv_row(cells)); });
}

void write_table_jsonl(const Table& table, const TextTaker& take) {
  table.each_row([&](std::span<const Cell> cells) {
    return take(safe_json(json_row(table.columns, cells).dump()) + "\n");
  });
}

void write_table_json(const Table& table, const TextTaker& take) {
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

std::string written(void (*write)(const Table& table, const TextTaker& take), const Table& table) {
  std::string out;
  write(table, [&](std::string_view text) {
    out += text;
    return true;
  });
  return out;
}

}  // namespace ncclog
