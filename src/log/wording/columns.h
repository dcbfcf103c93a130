// The columns of a row, taken apart without allocating.
//
//   mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a78:021f     → 4 cells, the second "1"
//   |   32KiB |   1.44GBps |   0.82GBps |                               → 3 cells, the second
//                                                                         "1.44GBps"

#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "log/line/scanner.h"

namespace ncclog {

/// The cells of a row; views into it.
struct Columns {
  static constexpr size_t kMost = 32;  ///< More than the tables have, but for large GPU hosts.

  std::array<std::string_view, kMost> cells{};
  size_t count = 0;  ///< At most kMost; further columns are dropped.

  /// The cell, empty behind the last one.
  std::string_view operator[](size_t i) const { return i < count ? cells[i] : std::string_view{}; }
};

/// The columns of `text`, whatever it is. What `separates` holds for stands between them.
template <typename Separates>
Columns columns_of(std::string_view text, Separates separates) {
  Columns columns;
  Scanner scan(text);
  for (scan.take_while(separates); !scan.done() && columns.count < Columns::kMost;
       scan.take_while(separates)) {
    columns.cells[columns.count++] = scan.take_while([&](char c) { return !separates(c); });
  }
  return columns;
}

/// Those of a row of blanks and tabs.
inline Columns columns_of(std::string_view text) {
  return columns_of(text, [](char c) { return is_blank(c); });  // By its address it is not inlined.
}

/// Those of a row of a table that may be Markdown's or have commas.
inline Columns table_columns_of(std::string_view text) {
  return columns_of(text, [](char c) { return is_blank(c) || c == '|' || c == ','; });
}

}  // namespace ncclog
