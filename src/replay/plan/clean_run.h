// Does a run of a plan come to its end if everybody does what the plan says, and to which calls
// does the run come in which all ranks behave?
//
//   rank 0, one stream: Send to 1, Recv from 1      Both wait in Send for a Recv that stands behind
//   rank 1, one stream: Send to 0, Recv from 0      the other's Send: a circle.
//
// A plan's calls are played through (diagnose/calls/rank_programs.h). So only what cannot end is called
// a deadlock; a real run may wait more: one communicator's calls on several streams follow one
// another, and the first call of a kind waits for connections.
//
// What does not end that way is no part of the clean run. So the clean run of a plan is complete by
// construction, whatever the logs lack.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnose/calls/rank_programs.h"
#include "replay/plan/plan.h"

namespace ncclog {

/// How a Send ends.
enum class SendEnds {
  WithItsRecv,  ///< As large messages do.
  ByItself,     ///< As small messages may, while NCCL's buffers have room.
};

/// How calls are numbered by which they meet.
enum class Numbered {
  AsRecorded,  ///< By PlannedCall::index, so that a call that is missing leaves a gap.
  ByOrder,     ///< From 0, as NCCL counts in the run.
};

/// The calls of a plan's clean run.
struct CleanCalls {
  std::vector<RankProgram> programs;        ///< By rank of the plan; lines by its communicators.
  std::vector<std::vector<size_t>> places;  ///< Of their calls: into PlannedRank::calls.
};

/// Places in the plan have to make sense.
CleanCalls clean_calls(const ReplayPlan& plan, Numbered numbered, SendEnds sends);

/// The stream on which a rank last made a call like that one.
int usual_stream(const std::vector<PlannedCall>& calls, const PlannedCall& call);

/// Both sides make the same call: function, count, datatype, reduction and root; of a message its
/// size alone.
bool can_meet(const PlannedCall& a, const PlannedCall& b);

// Which calls does a run in which all ranks behave come to?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → both AllReduce; the Send has no Recv, so it belongs to the defect run only

/// For each rank of the plan and each of its calls, whether the clean run comes to its end. False
/// for calls of the defect run.
std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan,
                                               SendEnds sends = SendEnds::WithItsRecv);

/// All its calls come to their ends.
bool clean_run_ends(const ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv);

/// Lets the ranks that are missing at `front` make the calls in which others wait for them, one
/// after the other and, if the front is a message, only messages, until the clean run comes to the
/// end of the call there, or nobody waits any more. Gives how many others than that call were
/// added, 64 at most.
uint64_t extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message,
                          SendEnds sends = SendEnds::WithItsRecv);

/// Moves calls of both runs that do not end in the clean run to the defect run, and removes those
/// of the clean run. Gives how many calls were removed. Groups stay whole.
uint64_t settle_clean_run(ReplayPlan& plan, SendEnds sends = SendEnds::WithItsRecv);

}  // namespace ncclog
