// Rows of the tables that benchmarks of bandwidth print, whose columns come and go.
//
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//   | 8388608 | 2097152 | float | sum | -1 | 4915.3 | 1.71 | 3.20 | 0 | 5012.1 | …
//   |   32KiB |   1.44GBps |   0.82GBps |
//   31.67 GB            8501054668x4             3176.620 ms         171.272             149.863
//
// nccl-tests and rccl-tests of all releases (src/common.cu, src/util.cu), the benchmarks of
// ml-engineering, DeepSpeed's (deepspeed/utils/comms_logging.py and the communication benchmarks)
// and PARAM's. log/messages/framework/ says what the fields mean.

#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/collectives.h"
#include "base/text.h"
#include "log/line/scanner.h"
#include "log/wording/message_kind.h"

namespace ncclog {

// The columns of a row, taken apart without allocating.

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

// What benchmarks print.

/// How rows begin: a number, or a table's border before it.
inline constexpr std::string_view kRowBegins[] = {"0", "1", "2", "3", "4", "5",
                                                  "6", "7", "8", "9", "|"};
inline constexpr std::string_view kTableBorder[] = {"|"};
inline constexpr std::string_view kParamRow[] = {"COMMS-RES-"};

/// Operations as torch.distributed and DeepSpeed name them.
inline constexpr auto kTorchOps = [] {
  const auto is_torch = [](const OperationAlias& row) {
    return row.is_used_by(AliasSource::Torch);
  };
  std::array<std::string_view, std::ranges::count_if(kOperationAliases, is_torch)> names;
  size_t count = 0;
  for (const OperationAlias& row : kOperationAliases) {
    if (is_torch(row)) names[count++] = row.text;
  }
  return names;
}();

bool recognise_nccl_tests_result(std::string_view text, Message& message);
bool recognise_ds_comms_op(std::string_view text, Message& message);
bool recognise_param_row(std::string_view text, Message& message);

// Rows that an expression takes apart, whose groups have the names of fields.

/// Whether all of `text` fits; then the fields hold what the groups do.
bool fits(const re2::RE2& row, std::string_view text, Message& message);

template <const char* kRow>
bool recognise_by(std::string_view text, Message& message) {
  static const re2::RE2 row(kRow, re2::RE2::Latin1);
  return fits(row, text, message);
}

/// Where a rank of nccl-tests runs. Releases before 2.0 print no pid, and once no host: "Rank  0
/// uses device  0 [0x05] …".
inline constexpr char kNcclTestsRank[] =
    R"((?:#  \s*)?Rank\s+(?P<rank>\S+)(?:\s+Group\s+(?P<group>\S+))?(?:\s+Pid\s+(?P<pid>\S+))?)"
    R"((?:\s+on\s+(?P<host>\S+)|\s+uses)\s+device\s+(?P<device>\S+)\s+\[(?P<bus_id>\S*)\])"
    R"((?:\s+(?P<gpu>.*))?)";

/// The headings above the rows. Field columns: the names, where this line holds them.
inline constexpr char kNcclTestsColumns[] =
    R"(#\s*(?:out-of-place\s+(?:in-place|\(\+)(?:\s.*)?|\(B\)\s+\(elements\)(?:\s.*)?|)"
    R"((?P<columns>size\s+count\s+type(?:\s.*)?)))";

/// "|   32KiB |   1.44GBps |   0.82GBps | 39.9us | …", or without payload where all rows are of
/// one.
inline constexpr char kTorchBenchRow[] =
    R"(\|[\s|,]*(?:(?P<payload>[\d.]+(?:|i|Ki|Mi|Gi|Ti|K|M|G)B)[\s|,]+)?)"
    R"((?P<busbw>-?[\d.]+)GBps[\s|,]+(?P<algbw>-?[\d.]+)GBps)"
    R"((?:[\s|,]+(?P<time>-?[\d.]+)us)?(?:[\s|,].*)?)";

/// "31.67 GB   8501054668x4   3176.620 ms   171.272   149.863", or raw, without units.
inline constexpr char kDsBenchRow[] =
    R"([-\d.e+]+\s+(?:[KMGT]?B\s+)?(?P<shape>\d+x\d+)\s+(?P<time>[-\d.e+]+)(?:\s+(?P<time_unit>[mu]s))?)"
    R"(\s+(?P<throughput>[-\d.e+]+)\s+(?P<busbw>[-\d.e+]+))";

/// "2.0 KB   146   11.12   0.08   0.43   0.41", which of them they are the heading says.
inline constexpr char kDsCommsRow[] =
    R"((?P<size>[-\d.e+]+)\s+(?P<size_unit>[KMGT]?B)\s+(?P<count>\d+)\s+(?P<total>[-\d.e+]+)\s+)"
    R"((?P<time>[-\d.e+]+)\s+(?P<throughput>[-\d.e+]+)\s+(?P<busbw>[-\d.e+]+))";

/// "Latency test for nodes node1 node2", "=== hosts: node1 <-> node2 ===".
inline constexpr char kPairHeading[] =
    R"([\w\s=#*+>-]*(?:[Nn]odes|[Hh]osts)[\s:=]+(?P<first>[a-z][a-z0-9-]*\d[a-z0-9-]*(?:\.[a-z0-9-]+)*))"
    R"((?: and | to | vs\.? | ?, ?| ?<?-{1,2}> ?| ?<?=> ?|\s+))"
    R"((?P<second>[a-z][a-z0-9-]*\d[a-z0-9-]*(?:\.[a-z0-9-]+)*)[\s.)=*#-]*)";

/// A heading that names two hosts, and speaks of no failure between them. Fields first, second.
bool recognise_run_hosts(std::string_view text, Message& message);

}  // namespace ncclog
