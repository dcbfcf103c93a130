// What does a curve of bandwidth over size show by its shape alone?
//
//   busbw
//   480 |                  __----  plateau       16 GiB  487     peak
//   440 |            __--´´                       8 GiB  480
//       |        _-´                              4 GiB  467  → plateau 480, no cliff
//     0 |___--´´                                      8 B     63 us of latency
//        8 B                16 GiB
//
// A size costs about a + b * bytes: a start and a rate. Fitted to the large sizes of a curve that still
// climbs, b gives the bandwidth that it heads for: 458 GB/s at 704 MB is what 472 looks like there. A
// shape accuses nobody: it says where to look.

#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/perf/measured/measurement.h"

namespace ncclog {

/// What the shape shows. Where no row has a bandwidth, `best` is negative and nothing else is known
/// but the sizes and what was wrong.
struct Curve {
  /// Those that are known, ascending; of each the median of its repetitions, and the best row.
  std::vector<MeasuredPoint> sizes;
  double best = -1;  ///< Of all rows, GB/s
  int64_t best_at = -1;
  double last = -1;  ///< At the largest size.
  int64_t last_at = -1;
  int64_t first_at = -1;
  double plateau = -1;    ///< Where it leads to; the best where it does not rise any more.
  bool climbing = false;  ///< The largest size is the best, and clearly better than the one before.
  bool one_size = false;
  bool falls = false;  ///< To less than half of its best.
  bool dips = false;   ///< Its best is not its end, by more than a tenth.
  /// By which part in-place is faster than out-of-place, over the largest sizes; 0: no difference,
  /// or one way only was measured.
  double in_place_gain = 0;
  int64_t wrong = 0;  ///< Wrong values in all.
};

/// Reads the points of a measurement; pure.
Curve read_curve(const Measurement& measurement);

}  // namespace ncclog
