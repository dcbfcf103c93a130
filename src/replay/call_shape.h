// How many elements does a call read and write on one rank, and what does its time say of the
// links?
//
//   AllGather of 1024 on 8 ranks: sends 1024, receives 8192; busbw = algbw * 7/8
//
// Buffers as nccl.h documents them (2.28.9). Bandwidths as nccl-tests defines them (its
// doc/PERFORMANCE.md): algbw is the size of the whole operation over its time, busbw what of it the
// links of a ring would carry, whatever the algorithm.

#pragma once

#include <cstdint>
#include <string_view>

#include "replay/plan.h"

namespace ncclog {

/// Which of a rank's buffers a call uses, in elements; 0: none of it.
struct CallShape {
  int64_t sent = 0;
  int64_t received = 0;

  bool operator==(const CallShape&) const = default;
};

/// True for a function that a replay can make.
bool is_replayable(std::string_view op);

/// True for Send and Recv.
bool is_message(std::string_view op);

/// True if the result depends on the reduction.
bool is_reduction(std::string_view op);

/// True if `root` names a rank of the communicator that the result depends on.
bool has_root(std::string_view op);

/// Elements of `call` on rank `rank` of `nranks`. {0, 0} for what is_replayable denies.
CallShape shape_of(const PlannedCall& call, int rank, int nranks);

/// Bytes of the operation as nccl-tests counts its size.
int64_t operation_bytes(const PlannedCall& call, int nranks);

/// busbw / algbw; 1 for messages.
double bus_factor(std::string_view op, int nranks);

}  // namespace ncclog
