#include "report/markdown_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/markdown_text.h"
#include "report/text_parts.h"

namespace ncclog {
namespace {

std::string shown(const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) return std::to_string(*number);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return {};
  return markdown_text(shortened(*text, kMaxCellBytes), MarkdownPlace::TableCell);
}

/// "not seen" for "not_seen".
std::string heading(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_blank(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }

std::vector<size_t> filled_columns(const Table& table) {
  std::vector<size_t> filled;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const bool any = std::any_of(table.rows.begin(), table.rows.end(),
                                 [c](const auto& row) { return !is_blank(row[c]); });
    if (any) filled.push_back(c);
  }
  return filled;
}

template <typename TextOf>
std::string row_text(const std::vector<size_t>& columns, TextOf text_of) {
  std::string line = "|";
  for (const size_t column : columns) line += " " + text_of(column) + " |";
  return line + "\n";
}

}  // namespace

std::string fitted(std::span<const std::string> pieces, size_t bytes, std::string_view what) {
  std::string out;
  uint64_t left_out = 0;
  for (const std::string& piece : pieces) {
    if (out.size() + piece.size() <= bytes) {
      out += piece;
    } else {
      ++left_out;
    }
  }
  if (left_out == 0) return out;
  return out + fmt::format("\n{} {} left out here.\n",
                           plural(left_out, fmt::format("more {}", what)),
                           left_out == 1 ? "is" : "are");
}

std::string collapsed(std::string_view title, std::string_view body) {
  return fmt::format("<details>\n<summary>{}</summary>\n\n{}\n</details>\n\n", title, body);
}

std::string markdown_table(const Table& table, size_t bytes, std::string_view what) {
  if (table.rows.empty()) return {};
  const std::vector<size_t> columns = filled_columns(table);
  std::string head = row_text(columns, [&](size_t c) { return heading(table.columns[c]); });
  head += row_text(columns, [](size_t) { return std::string("---"); });
  std::vector<std::string> rows;
  for (const auto& row : table.rows) {
    rows.push_back(row_text(columns, [&](size_t c) { return shown(row[c]); }));
  }
  return head + fitted(rows, bytes - std::min(bytes, head.size()), what);
}

}  // namespace ncclog
