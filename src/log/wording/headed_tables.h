// Tables of bandwidth that no benchmark known here prints: what the columns are, their heading says.
//
//   size(MB)   tavg(usec)    tmin(usec)    tmax(usec)  avgbw(GB/sec)
//   1.00      121.5          116.5          151.2         14.41
//
//   | Op           | Size | Time (ms) | AlgBW (GB/s) | BusBW (GB/s) |
//   | `all_reduce` | 64MB | 2.651     | 25.31        | 47.46        |
//
//   all_reduce 64.0 MB: 2.651 ms, algbw 25.31 GB/s, busbw 47.46 GB/s
//
// Scripts name the same few columns in as many ways as there are scripts, so names are taken apart:
// the words of headed_tables.table tell what a column is, and what stands behind them its unit.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "log/wording/benchmark_rows.h"
#include "log/wording/message_kind.h"

namespace ncclog {

/// What a column of such a table holds. Size and times are of one call; Bandwidth is one of which
/// the name does not tell which it is.
enum class BandwidthColumn { Other, Op, Ranks, Size, Time, Algbw, Busbw, Bandwidth };

/// A column as its heading names it.
struct HeadedColumn {
  BandwidthColumn is = BandwidthColumn::Other;
  std::string_view unit;  ///< "MB", "usec", "GB/s", as printed; empty: not named.
};

/// The columns that a heading names, in order; views into it. Of two with the same meaning the first
/// one counts, and those of least, most and spread are Other.
struct HeadedColumns {
  std::array<HeadedColumn, Columns::kMost> columns{};
  size_t count = 0;
};
HeadedColumns headed_columns(std::string_view heading);

/// The cells of a heading or of a row below it; views into it. A unit behind blanks belongs to its
/// cell: "8.00 KB", "size (B)".
Columns headed_cells(std::string_view text);

/// What a cell says: a number, and the unit behind it.
struct CellNumber {
  double number = 0;
  std::string_view unit;
};

/// "64MB", "2.651 ms", "**25.3**"; nullopt: no number.
std::optional<CellNumber> quantity_of(std::string_view cell);

/// A heading: it names two of a size, a time and a bandwidth. Field columns.
bool recognise_bandwidth_columns(std::string_view text, Message& message);

/// What may be a row below one: cells that are numbers but for two. Field cells.
bool recognise_bandwidth_row(std::string_view text, Message& message);

/// A line that names a size, and its bus bandwidth in GB/s by that word. Fields size, busbw.
inline constexpr char kBandwidthLine[] =
    R"((?:.*?[^\w.])?(?P<size>\d[\d.]* ?(?:[KMGT]i?)?B)(?:[^/\w].*?)?[^\w](?i:avg|mean)?_?)"
    R"((?i:bus[_ ]?bw|bus[_ ]bandwidth)[\s:=~(]{1,8}(?P<busbw>\d[\d.]*) ?G(?:B/s|Bps|B/sec)(?:\W.*)?)";
bool recognise_bandwidth_line(std::string_view text, Message& message);

}  // namespace ncclog
