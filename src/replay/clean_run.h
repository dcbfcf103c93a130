// Which calls does a run in which all ranks behave come to?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → both AllReduce; the Send has no Recv, so it belongs to the defect run only
//
// The calls are carried out in thought (replay/call_meetings.h). What does not end that way is no
// part of the clean run. So the clean run of a plan is complete by construction, whatever the logs
// lack.

#pragma once

#include <cstdint>
#include <vector>

#include "replay/find_deadlock.h"
#include "replay/plan.h"

namespace ncclog {

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
