// What does a curve of bandwidth over size show by its shape alone?
//
//   busbw
//   480 |                  __----  plateau       16 GiB  487     peak
//   440 |            __--´´                       8 GiB  480
//       |        _-´                              4 GiB  467  → plateau 480, no cliff
//     0 |___--´´                                      8 B     63 us of latency
//        8 B                16 GiB
//
// A size costs about a + b * bytes: a start and a rate. Fitted to the large sizes, b gives the
// bandwidth that the curve heads for, and a says how much of it a size can show: 458 GB/s at
// 704 MB is what 472 looks like there. A shape accuses nobody: it says where to look.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/line.h"
#include "diagnose/perf/measured/measurement.h"

namespace ncclog {

/// One size: the median of its repetitions. GB/s and microseconds; negative: not measured.
struct CurveSize {
  int64_t bytes = -1;
  double busbw = -1;         ///< Of the better way.
  double time_us = -1;       ///< Of the same.
  double out_of_place = -1;  ///< busbw
  double in_place = -1;      ///< busbw
  int repetitions = 0;       ///< Rows of the size.
  SourceRef where;           ///< Its best row.
};

/// A fall of bandwidth from one size to a larger one by at least a fifth.
struct CurveFall {
  int64_t from = -1;  ///< Bytes.
  int64_t to = -1;
  double before = -1;  ///< GB/s
  double after = -1;
  bool recovers = false;  ///< A larger size comes near what was lost.
  SourceRef where;        ///< The row after it.
};

/// A repetition that is far slower than the others of its size.
struct SlowRepetition {
  int64_t bytes = -1;
  double busbw = -1;   ///< GB/s
  double median = -1;  ///< Of its size.
  SourceRef where;
};

/// What the shape shows.
struct Curve {
  std::vector<CurveSize> sizes;  ///< Ascending; one of unknown size first.

  double peak = -1;  ///< The best of all rows, GB/s; -1: no row has a bandwidth.
  int64_t peak_at = -1;
  bool peak_in_place = false;
  SourceRef peak_line;
  std::string peak_text;

  /// The median of the largest sizes where they are nearly equal, GB/s; -1: there is none.
  double plateau = -1;
  bool is_climbing =
      false;  ///< The largest size is the best, and clearly better than the one before.
  bool is_falling = false;  ///< The largest sizes are on a fall that none recovers from.

  double latency_us = -1;  ///< Median time of the smallest sizes; -1: none is small enough.

  /// The fit of time = start + bytes * rate to the large sizes; -1: fewer than three, or they do
  /// not follow it.
  double start_us = -1;
  double asymptote = -1;        ///< The bandwidth of the rate alone, GB/s.
  double asymptote_error = -1;  ///< One standard error, and what the choice of sizes changes.
  double factor = -1;           ///< Bus bandwidth by algorithm bandwidth, of the rows.

  std::vector<CurveFall> falls;
  int reversals = 0;  ///< How often the bandwidth turns between falling and rising, by over 5 %.
  /// By which part in-place is faster than out-of-place, over the largest sizes; 0: no difference,
  /// or one way only was measured.
  double in_place_gain = 0;
  std::vector<SlowRepetition> slow;  ///< The first few.
  int slow_count = 0;

  int64_t wrong = -1;  ///< Wrong values in all; -1: not checked.
  int wrong_rows = 0;
  SourceRef first_wrong;
  int unmeasured_rows = 0;  ///< Of a size above 0 without time or bandwidth, or with time 0.
};

/// Reads the points of a measurement; pure.
Curve read_curve(const Measurement& measurement);

// What a curve comes to, of which only the end counts.

struct CurveEnd {
  double best = -1;  ///< GB/s
  int64_t best_at = -1;
  double last = -1;  ///< At the largest size.
  int64_t last_at = -1;
  int64_t first_at = -1;
  double plateau = -1;  ///< Where it leads to; the best where it does not rise any more.
  bool climbing = false;
  bool one_size = false;
  bool falls = false;        ///< To less than half of its best.
  bool dips = false;         ///< Its best is not its end, by more than a tenth.
  double in_place_gain = 0;  ///< As a part of out-of-place.
  int64_t wrong = 0;
};

/// The end of a curve; pure.
CurveEnd read_end(const Measurement& measurement);

/// The bandwidth that a size can show where `ceiling` (GB/s) is what the path lets pass and each
/// call costs the curve's start. `ceiling` itself where the curve has no start.
double reachable_at(const Curve& curve, double ceiling, int64_t bytes);

}  // namespace ncclog
