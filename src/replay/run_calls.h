// The calls of one run of a plan, in the order in which they meet each other.
//
//   communicator 0:  collectives   rank 0: calls 2, 4     rank 1: calls 2, 4     the k-th meet
//                    messages 0→1  Send: calls[0] of 0    Recv: calls[1] of 1    likewise
//
// NCCL has no tags: what meets is decided by order alone.

#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "replay/plan.h"

namespace ncclog {

/// A call in a plan.
struct CallOfRank {
  size_t rank = 0;  ///< Into ReplayPlan::ranks.
  size_t call = 0;  ///< Into PlannedRank::calls.

  bool operator==(const CallOfRank&) const = default;
};

/// Messages from one rank of a communicator to one.
struct MessageLine {
  std::vector<CallOfRank> sends;
  std::vector<CallOfRank> recvs;
};

/// The calls of one communicator in one run, paired as NCCL pairs them: by their order.
struct CommunicatorCalls {
  /// By rank in the communicator, in order.
  std::vector<std::vector<CallOfRank>> collectives;
  /// By sender and receiver, ranks in the communicator.
  std::map<std::pair<int, int>, MessageLine> messages;
};

/// By communicator of the plan. `mode` is Clean or Defect. Places in the plan have to make sense.
std::vector<CommunicatorCalls> run_calls(const ReplayPlan& plan, MadeIn mode);

/// The call there; the place has to be one of the plan, which owns the call.
const PlannedCall& call_at(const ReplayPlan& plan, const CallOfRank& place);

}  // namespace ncclog
