// What does a replay take of the machine: how much memory of each GPU, and how long at most?
//
//   2 ranks, AllReduce of 256 MiB, 16 channels:   512 MiB of buffers, about 1.1 GiB in all
//   two runs, each phase at its deadline:         at most 9 min 40 s
//
// Buffers are exact to a few KiB; what NCCL and CUDA take is an estimate.

#pragma once

#include <cstdint>
#include <string>

#include "replay/plan.h"

namespace ncclog {

/// What one GPU of a replay needs, at most.
struct ReplayCost {
  int64_t buffers = 0;  ///< Bytes that the calls of the hungriest rank need.
  int64_t nccl = 0;     ///< Bytes that NCCL and CUDA take on it, estimated.

  /// Together; the largest number if it is not one.
  int64_t bytes() const;
  bool operator==(const ReplayCost&) const = default;
};

/// Of one GPU. The plan has to make sense to check_shape.
ReplayCost replay_cost(const ReplayPlan& plan);

/// The plan's deadlines where somebody wants another one for calls and for what follows them:
/// bringing the ranks up and initialising keep their own. `seconds` 0: as planned.
ReplayDeadlines with_deadline(ReplayDeadlines planned, int seconds);

/// Most timed runs of a call: all their times are kept, and their launches wait in the driver's
/// queue.
inline constexpr int kMostTimedRuns = 300;

/// How many seconds longer completion may take in a run that also times its calls so many times.
int timing_seconds(int time_runs);

/// Seconds that `runs` runs take at most, with the time that is left to stuck ranks to end and that
/// it takes to ask the GPUs afterwards.
int64_t longest_seconds(const ReplayDeadlines& deadlines, int runs);

/// How many runs a plan has of itself: the defect and the clean one, or the clean one alone.
int runs_of(const ReplayPlan& plan);

/// "2 GPUs with about 1.2 GiB free on each, and at most 10 min 34 s".
std::string cost_words(const ReplayPlan& plan, int runs);

}  // namespace ncclog
