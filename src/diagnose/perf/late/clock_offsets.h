// By how much do the clocks of hosts differ, if all that is known is when they saw the same things?
//
//   call       host a        host b        b - a
//   17         100.000 s     103.412 s     3.412
//   18         100.250 s     103.661 s     3.411      → b is 3.41 s ahead, and falls behind by
//   …          …             …             …            20 microseconds a second; error 0.2 ms
//
// The difference in a call is that of the clocks, and noise; single late calls move a median little.
// Clocks drift, so stretches of calls have a median each, and between their middles the offset is
// taken from a straight line.

#pragma once

#include <cstddef>
#include <vector>

namespace ncclog {

/// How far each host's clock is ahead of the first one's.
struct ClockOffsets {
  /// By host, then by call, in the unit of the times.
  std::vector<std::vector<double>> ahead;
  double error = 0;  ///< Of any of them, two standard deviations; 0: one host.
};

/// Estimates them from when each host saw each call: `seen[host][call]`, equally many calls each,
/// in the order of the calls. No times are NaN.
ClockOffsets estimate_clock_offsets(const std::vector<std::vector<double>>& seen);

}  // namespace ncclog
