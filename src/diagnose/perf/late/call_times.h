// Where do times of calls stand? In dumps of PyTorch's Flight Recorder, in files of NCCL's
// Inspector, in front of stamped lines.
//
//   dumps of 8 ranks, entries with duration_ms          → group "0": durations alone
//   node01-pid41.log … of the Inspector, verbose        → communicator 0x7f8c…: starts and durations
//   [2026-11-20 20:54:52.123456] node-a:41:41 … AllReduce: opCount 1a …   → entries alone
//
// Only collectives that end on no rank before all have entered them are told: AllReduce, AllGather,
// ReduceScatter, AlltoAll. The root of a Broadcast waits for nobody.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/line.h"
#include "diagnose/facts/fact.h"
#include "model/job.h"

namespace ncclog {

/// One call of one rank, as its process saw it. Times in microseconds; NaN: not told.
struct TimedCall {
  int64_t number = -1;  ///< Of the call in its communicator: equal numbers are one call.
  double entered = std::numeric_limits<double>::quiet_NaN();  ///< By the clock of its host.
  /// From start to end on the GPU or in the proxy. Where `entered` is told as well, it is the start.
  double duration = std::numeric_limits<double>::quiet_NaN();
};

/// The calls of one rank in one communicator.
struct RankTimes {
  int rank = -1;     ///< In the communicator, or global where the source names groups by those.
  std::string host;  ///< Empty: unknown; ranks of one host share a clock.
  std::vector<TimedCall> calls;  ///< By number, ascending.
  /// Time inside calls of other communicators for each call of this one; 0: none is known. Who waits
  /// there is late here and not guilty of it.
  double elsewhere_us = 0;
};

/// What times of one communicator came from, and all of its ranks.
struct CallTimes {
  std::string source;            ///< "Flight Recorder", "NCCL Inspector", "stamped lines" …
  std::string communicator;      ///< Its id, or the group's name.
  int nranks = -1;               ///< -1: unknown.
  std::vector<RankTimes> ranks;  ///< By rank; those of which times are known.
  double resolution_us = 0;      ///< Of times of entry: what is printed in seconds says little.
  /// The ranks make calls on other communicators too, and how long those take is unknown.
  bool has_unknown_waits = false;
  std::vector<Evidence> evidence;  ///< Of each of `ranks` one; or empty.
};

/// Fewer calls that all ranks made are not judged.
inline constexpr int64_t kLeastCalls = 100;

/// Times of all communicators and groups with two ranks or more that have any, by source, the
/// largest first. Ranks are those of the job where they can be told. Pure.
std::vector<CallTimes> call_times(const Job& job);

/// The lines of calls whose times are worth reading again, sorted: of communicators with stamped
/// lines, the calls that are kept. Empty where stamps are whole seconds, and not more than can be
/// read in a moment.
std::vector<SourceRef> stamped_calls(const Job& job);

}  // namespace ncclog
