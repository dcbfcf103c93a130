// A table that is written while its rows are made, because they may be too many to be kept.
//
//   iteration,op,calls,…
//   1,AllGather,32,…          a row for each iteration: as many as the training is long

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace ncclog {

/// Takes one row, a cell for each column; false if no more are wanted.
using RowTaker = std::function<bool(std::span<const Cell> cells)>;

/// Takes a piece of output; false if nobody reads on.
using TextTaker = std::function<bool(std::string_view text)>;

/// As a Table, but for its rows.
struct TableStream {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::string> notes;
  std::function<void(const RowTaker& take)> each_row;  ///< Hands on all rows, in order.
};

/// Writes what write_table_csv() would return of a table with these rows, in pieces.
void write_stream_csv(const TableStream& table, const TextTaker& take);

/// The same for write_table_json().
void write_stream_json(const TableStream& table, const TextTaker& take);

}  // namespace ncclog
