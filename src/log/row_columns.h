// The columns of a row of blanks and tabs, taken apart without allocating.
//
//   mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a78:021f
//   → 4 cells, the second "1"

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "log/scanner.h"

namespace ncclog {

/// The cells of a row; views into it.
struct Columns {
  static constexpr size_t kMost = 32;  ///< More than the tables have, but for large GPU hosts.

  std::array<std::string_view, kMost> cells{};
  size_t count = 0;  ///< At most kMost; further columns are dropped.

  /// The cell, empty behind the last one.
  std::string_view operator[](size_t i) const { return i < count ? cells[i] : std::string_view{}; }
};

/// The columns of `text`, whatever it is.
inline Columns columns_of(std::string_view text) {
  Columns columns;
  Scanner scan(text);
  for (scan.blanks(); !scan.done() && columns.count < Columns::kMost; scan.blanks())
    columns.cells[columns.count++] = scan.take_while([](char c) { return !is_blank(c); });
  return columns;
}

}  // namespace ncclog
