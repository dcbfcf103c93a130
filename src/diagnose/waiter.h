// Who makes calls, and so can wait in one: a process on one of its GPUs.
//
//   pid 14224, GPU 1: rank 5 of the world, rank 1 of a tensor group      one waiter, two ranks

#pragma once

#include <compare>

#include "model/job.h"

namespace ncclog {

/// Something that can wait: a process on one of its GPUs.
struct Waiter {
  int process = -1;   ///< Into Job::processes.
  int cuda_dev = -1;  ///< -1: no line names one.

  auto operator<=>(const Waiter&) const = default;
};

inline Waiter waiter_of(const CommRank& rank) { return {rank.process, rank.cuda_dev}; }

}  // namespace ncclog
