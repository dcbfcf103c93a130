// What nccl-tests measured: runs of one program each, with a row per size. Printed as text, or
// written as JSON (import/nccl_tests.cc).
//
//   # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 …    → a run
//        8388608       2097152     float     sum      -1 …  → one of its rows
//   # Avg bus bandwidth    : 3.71538
//
// A run begins where its first line stands and ends where the next one begins. Values are texts as
// printed: "N/A" and widths that give way ("1.2e+06") lose nothing that way.

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/line.h"
#include "base/text.h"

namespace ncclog {

/// One way in which a size was measured; all empty: it was not.
struct NcclTestsValues {
  std::string time;   ///< Microseconds.
  std::string algbw;  ///< GB/s
  std::string busbw;  ///< GB/s
  std::string wrong;  ///< As printed; nccl_tests_wrong_values() says what it counts.
};

struct NcclTestsRow {
  SourceRef where;
  std::string text;    ///< The line.
  int64_t size = -1;   ///< Bytes.
  int64_t count = -1;  ///< Elements.
  std::string datatype;
  std::string redop;  ///< Empty or "none": the test has none.
  int root = -1;      ///< -1: none.
  NcclTestsValues out_of_place;
  NcclTestsValues in_place;
};

/// Where a rank of a test runs, as listed before the table.
struct NcclTestsPlace {
  int rank = -1;
  int group = -1;  ///< Of ranks that measure among themselves; -1: not printed.
  int64_t pid = -1;
  std::string host;
  int device = -1;
  std::string bus_id;  ///< "0x17": the bus alone; "0000:52:00" in 2.13 and later.
  std::string gpu;
};

struct NcclTestsRun {
  SourceRef first;
  int process = -1;     ///< Into Job::processes: who printed it; -1: it is of a file of its own.
  std::string test;     ///< "all_reduce_perf"; empty: no line names it.
  std::string version;  ///< Of nccl-tests; empty before 2.17.6.
  int nranks = -1;      ///< As listed; -1: not listed.
  std::vector<NcclTestsPlace> places;  ///< Of its ranks, as listed.
  int64_t min_bytes = -1;
  int64_t max_bytes = -1;
  int iters = -1;
  int validation = -1;  ///< 0: results were not checked; -1: unknown.
  std::vector<NcclTestsRow> rows;
  std::string busbw;             ///< Mean over all sizes, GB/s; empty: the run shows no end.
  SourceRef busbw_line;          ///< Line 0: there is none.
  bool below_expected = false;   ///< nccl-tests itself calls that mean too low.
  int64_t out_of_bounds = -1;    ///< Wrong values in all; -1: the run shows no end.
  SourceRef out_of_bounds_line;  ///< Line 0: there is none.
  /// NCCL's variables, as the JSON form names them; empty for text.
  std::vector<std::pair<std::string, std::string>> environment;
};

/// The number of wrong values that a column holds. -1 where it counts none: "N/A", empty, or the
/// largest error as printed up to 2.10 ("2e-07").
inline int64_t nccl_tests_wrong_values(std::string_view printed) {
  if (const auto count = parse_int(printed)) return *count;
  // "%g" of a large count; the errors of old releases have small exponents.
  const size_t exponent = printed.find("e+");
  if (exponent == printed.npos || !is_digit(printed.front())) return -1;
  const auto digits = parse_int(printed.substr(exponent + 2));
  if (!digits || *digits < 6 || *digits > 17) return -1;
  double value = 0;
  std::from_chars(printed.data(), printed.data() + printed.size(), value);
  return static_cast<int64_t>(value);
}

}  // namespace ncclog
