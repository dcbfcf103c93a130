// Does a run of a plan come to its end if everybody does what the plan says, and to which calls
// does the run come in which all ranks behave?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//
// A plan's calls are carried out in thought. Assumed, so that only what cannot end is called a
// deadlock: calls wait for those before them on their own stream only, and within a group for none;
// a collective ends when all ranks of its communicator have come to it, a message when both have,
// whatever NCCL connects on the way; hosts never wait. A real run may wait more: one communicator's
// calls on several streams follow one another, and the first call of a kind waits for connections.
//
// What does not end that way is no part of the clean run. So the clean run of a plan is complete by
// construction, whatever the logs lack.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "replay/plan/plan.h"

namespace ncclog {

// The calls of one run of a plan, in the order in which they meet each other.
//
//   communicator 0:  collectives   rank 0: calls 2, 4     rank 1: calls 2, 4     the k-th meet
//                    messages 0→1  Send: calls[0] of 0    Recv: calls[1] of 1    likewise
//
// NCCL has no tags: what meets is decided by order alone.

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

/// How a Send ends.
enum class SendEnds {
  WithItsRecv,  ///< As large messages do.
  ByItself,     ///< As small messages may, while NCCL's buffers have room.
};

/// One link of a circle.
struct WaitingCall {
  CallOfRank waiting;  ///< Has begun and waits for
  CallOfRank awaited;  ///< this one, which stands behind the next link's `waiting`.

  bool operator==(const WaitingCall&) const = default;
};

/// The circle that the clean run ends in; empty: it comes to its end. Every call of it has to have
/// its counterparts (replay/plan/check_plan.cc).
std::vector<WaitingCall> find_deadlock(const ReplayPlan& plan, SendEnds sends);

// Which calls does a run in which all ranks behave come to?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → both AllReduce; the Send has no Recv, so it belongs to the defect run only

/// For each rank of the plan and each of its calls, whether the clean run comes to its end. False
/// for calls of the defect run.
std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan,
                                               SendEnds sends = SendEnds::WithItsRecv);

/// Lets the ranks that are missing at `front` make the calls in which others wait for them, one
/// after the other and, if the front is a message, only messages, until the clean run comes to the
/// end of the call there, or nobody waits any more. Gives how many others than that call were
/// added, 64 at most.
int extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message,
                     SendEnds sends = SendEnds::WithItsRecv);

/// Moves calls of both runs that do not end in the clean run to the defect run, and removes those
/// of the clean run. Gives how many calls were removed. Groups stay whole.
uint64_t settle_clean_run(ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv);

}  // namespace ncclog
