// Does a run of a plan come to its end if everybody does what the plan says?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//
// Assumed, so that only what cannot end is called a deadlock: calls wait for those before them on
// their own stream only, and within a group for none; a collective ends when all ranks of its
// communicator have come to it, a message when both have, whatever NCCL connects on the way; hosts
// never wait. A real run may wait more: one communicator's calls on several streams follow one
// another, and the first call of a kind waits for connections.

#pragma once

#include <vector>

#include "replay/run_calls.h"

namespace ncclog {

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
/// its counterparts (check_clean_run.cc).
std::vector<WaitingCall> find_deadlock(const ReplayPlan& plan, SendEnds sends);

}  // namespace ncclog
