// A table and how it is written: aligned text, JSON, JSON Lines, CSV.
//
//   rank  host         pid   gpu  state     calls
//      0  gpu-node-01  1607    0  complete     29
//      1                          not_seen
//
// A cell is a number, a text, or nothing where the log does not say.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/line.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {

struct Job;

/// "train.log:40"; the path alone for line 0, which stands for all of a dump; empty where it is no
/// line of the inputs.
std::string place_name(const std::string& path, uint64_t line);
std::string place_name(const Job& job, SourceRef where);

/// monostate: unknown; blank in text and CSV, null in JSON. A double is of an answer that computes.
using Cell = std::variant<std::monostate, int64_t, std::string, double>;

/// A number of the model, where -1 stands for unknown.
Cell number_cell(int64_t value);

/// A text of the model, where empty stands for unknown. May hold any bytes.
Cell text_cell(std::string_view value);

/// The cell of a value of the model: a number, a text, ranks as "0-3,7", names with blanks between
/// them; blank where it is unknown.
template <typename T>
Cell cell_of(const T& value) {
  if constexpr (std::is_same_v<T, Cell>) {
    return value;
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return text_cell(value);
  } else if constexpr (std::is_same_v<T, std::vector<int>>) {
    return text_cell(ranges_text(value));
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return text_cell(join(value, " "));
  } else if constexpr (requires { value.has_value(); }) {
    return value ? cell_of(*value) : Cell();
  } else {
    return number_cell(static_cast<int64_t>(value));
  }
}

/// A row of these.
template <typename... Values>
std::vector<Cell> cells(const Values&... values) {
  return {cell_of(values)...};
}

/// What a cell says, as it stands; empty for an unknown one.
std::string cell_text(const Cell& cell);

/// Takes one row, a cell for each column; false if no more are wanted.
using RowTaker = std::function<bool(std::span<const Cell> cells)>;

/// Invariant: every row has one cell per column.
struct Table {
  std::string name;
  std::vector<std::string> columns;  ///< Keys in JSON, headings otherwise.
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  ///< Sentences about the table as a whole.
  /// Hands on rows behind `rows` that are made while they are written, because they may be too many
  /// to be kept: one for each iteration of a long training. Empty: there are none.
  std::function<void(const RowTaker& take)> further = {};

  /// Adds a row with a cell for each of these.
  template <typename... Values>
  void add(const Values&... values) {
    rows.push_back(cells(values...));
  }

  /// Hands on all rows, in order.
  void each_row(const RowTaker& take) const;

  /// Makes further rows and keeps them, up to `most` rows in all. False if there are more.
  bool keep_rows(size_t most = SIZE_MAX);
};

/// A column that is shown.
struct ShownColumn {
  size_t index = 0;
  bool numeric = true;  ///< Holds nothing but numbers.
  bool wide = false;    ///< Holds long texts, which may wrap.
};

/// The columns that hold something in some row; the others only cost width.
std::vector<ShownColumn> shown_columns(const Table& table);

/// What stands above a column where a person reads: "last at" of "last_at".
std::string column_heading(std::string name);

/// Aligned columns, notes below; further rows are left out. The last column is cut to the width if
/// `fit` is set.
std::string write_table_text(const Table& table, const TextStyle& style, bool fit);

/// One row of CSV, with its line end.
std::string csv_row(std::span<const Cell> cells);

// Written in pieces while rows are made. Text that is no UTF-8 is made valid.

/// Takes a piece of output; false if nobody reads on.
using TextTaker = std::function<bool(std::string_view text)>;

/// {"schema": "ncclog.table/1", "table": name, "rows": [{column: value, …}, …], "notes": […]}.
void write_table_json(const Table& table, const TextTaker& take);

/// JSON Lines: {column: value, …} for each row.
void write_table_jsonl(const Table& table, const TextTaker& take);

/// RFC 4180 with a heading line; line ends are "\n". Notes are left out.
void write_table_csv(const Table& table, const TextTaker& take);

/// The same as one text.
std::string written(void (*write)(const Table& table, const TextTaker& take), const Table& table);

}  // namespace ncclog
