// By how much do ranks and hosts enter, and leave, a communicator's calls behind the others?
//
//   call   durations of ranks 0-3            behind the median of the others, entering
//   17     34.1  34.0   4.2  34.2 ms         0  0  29.9  0 ms
//   18     34.3  34.1  34.0  34.2 ms         0  0   0    0 ms
//
// All leave a call at nearly the same time, so durations alone tell who entered it late. Where times
// of entry are known too, clocks of hosts are set by when all left; where only those are known, by
// when all entered, and then nothing is said of what such clocks hide.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/perf/late/call_times.h"

namespace ncclog {

/// Values by rank, then by call.
using RankValues = std::vector<std::vector<double>>;

/// Of one after the other.
using CallSeries = std::vector<double>;

/// A rank, or all ranks of a host that has several.
using RankParty = std::vector<size_t>;

inline bool is_host(const RankParty& party) { return party.size() > 1; }

/// What is judged: the calls that all ranks with times made.
struct CommonCalls {
  std::vector<int64_t> numbers;
  std::vector<const RankTimes*> ranks;
  RankValues durations;      ///< Empty: not told.
  RankValues entered;        ///< Empty: not told.
  std::vector<int> host_of;  ///< By rank: who shares its clock.
  std::vector<std::vector<size_t>> hosts;
  /// All ranks, then the hosts that have several, if there are several hosts.
  std::vector<RankParty> parties;

  size_t size() const { return numbers.size(); }
};

/// The calls of `times` that are judged: by durations if there are any, else by times of entry. Of
/// very many the last ones. It points into `times`.
CommonCalls common_calls(const CallTimes& times);

/// The middle of what calls take: their durations, or, where none are told, from one to the next.
double median_call(const CommonCalls& calls);

/// How far parties are behind when they enter, and, if that can be told, when they leave.
struct CallLags {
  std::vector<CallSeries> entering;
  std::vector<CallSeries> leaving;  ///< Of those that entered with the others; empty: not known.
  RankValues entered;               ///< By one clock; empty: no times of entry.
  double error = 0;
};

/// Measures them. `late` is from how many microseconds on a party counts as late, `resolution` that
/// of times of entry.
CallLags measure_lags(const CommonCalls& calls, double late, double resolution);

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

/// How far each host's clock is ahead of the first one's, by host, then by call, in the unit of the
/// times; from when each host saw each call: `seen[host][call]`, equally many calls each, in the
/// order of the calls. No times are NaN. `error` becomes that of any of them, two standard
/// deviations; 0: one host.
RankValues estimate_clock_offsets(const RankValues& seen, double& error);

}  // namespace ncclog
