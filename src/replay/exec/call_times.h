// Which call of a plan is timed, and what do its times come to?
//
//   recorded front: AllReduce 28 on communicator 0 → that one, on all its ranks
//   no front                                      → the largest collective of the plan's rank 0
//   cold 310 us; then 20 runs: 98, 101, 97, …     → median 98 us, 1.37 GB/s
//
// They are taken on a communicator of their own, so the cold run sets its connections up. After it
// come ten that do not count. Two figures are taken, because they differ for small calls. Each run
// by itself, between two events of its stream: it holds what the host needs to launch it. And all
// runs back to back between two events, over their number: what nccl-tests prints.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

/// A collective of the clean run, the same for all ranks that make it.
struct TimedCall {
  int communicator = -1;
  uint64_t index = 0;

  bool operator==(const TimedCall&) const = default;
};

/// nullopt: the plan's rank 0 makes no collective that all ranks of its communicator make.
std::optional<TimedCall> choose_timed_call(const ReplayPlan& plan);

/// Place of that collective in `calls`, which are those of one rank; nullopt: not among them.
std::optional<size_t> find_timed_call(std::span<const PlannedCall> calls, const TimedCall& timed);

/// Of one call's runs, in microseconds. Of each, the slowest rank's.
struct MeasuredRuns {
  double cold = 0;
  std::vector<double> warm;  ///< Not empty.
  double series = 0;         ///< Of all warm ones back to back, over their number.
};

/// `place` is that in the calls of the plan's rank 0.
CallTiming timing_of(const PlannedCall& call, uint64_t place, int nranks, MeasuredRuns runs);

}  // namespace ncclog
