// What nccl-tests measured: runs of one program each, with a row per size.
//
//   # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 …    → a run
//        8388608       2097152     float     sum      -1 …  → one of its rows
//   # Avg bus bandwidth    : 3.71538
//
// A run begins where its first line stands and ends where the next one begins. Values are texts as
// printed: "N/A" and widths that give way ("1.2e+06") lose nothing that way.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source_ref.h"

namespace ncclog {

/// One way in which a size was measured; all empty: it was not.
struct NcclTestsValues {
  std::string time;   ///< Microseconds.
  std::string algbw;  ///< GB/s
  std::string busbw;  ///< GB/s
  std::string wrong;  ///< As printed; nccl_tests_wrong_values() says what it counts.

  bool operator==(const NcclTestsValues&) const = default;
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

struct NcclTestsRun {
  SourceRef first;
  int process = -1;     ///< Into Job::processes: who printed it.
  std::string test;     ///< "all_reduce_perf"; empty: no line names it.
  std::string version;  ///< Of nccl-tests; empty before 2.17.6.
  int nranks = -1;      ///< As listed; -1: not listed.
  int64_t min_bytes = -1;
  int64_t max_bytes = -1;
  int iters = -1;
  int validation = -1;  ///< 0: results were not checked; -1: unknown.
  std::vector<NcclTestsRow> rows;
  std::string busbw;             ///< Mean over all sizes, GB/s; empty: the run shows no end.
  bool below_expected = false;   ///< nccl-tests itself calls that mean too low.
  int64_t out_of_bounds = -1;    ///< Wrong values in all; -1: the run shows no end.
  SourceRef out_of_bounds_line;  ///< Line 0: there is none.
};

/// The number of wrong values that a column holds. -1 where it counts none: "N/A", empty, or the
/// largest error as printed up to 2.10 ("2e-07").
int64_t nccl_tests_wrong_values(std::string_view printed);

}  // namespace ncclog
