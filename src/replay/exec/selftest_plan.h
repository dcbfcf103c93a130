// Calls by which ncclog-replay tests itself: every function, datatype and reduction.
//
//   AllReduce of 1, 1031 and 65539 float8e4m3, sum … avg, apart and in place, on 2 ranks

#pragma once

#include "replay/plan.h"

namespace ncclog {

/// `nranks` from 2 on, on one communicator and on another one split off it in which they stand the
/// other way round. Counts are odd, buffers lie off their boundaries. `reduces_float8`: GPUs
/// before Hopper move such values and do not reduce them (NCCL 2.28.9, enqueue.cc).
ReplayPlan selftest_plan(int nranks, bool reduces_float8);

/// A call on which a planted corruption has to be found, and the element; made for that plan.
struct SelftestTarget {
  int rank = -1;
  uint64_t call = 0;
  int64_t element = 0;
};
SelftestTarget selftest_target(const ReplayPlan& plan, std::string_view op);

}  // namespace ncclog
