// What the clean run makes that was not made: the calls that somebody left out, in their places.
//
//   rank 5: … AllGather(27) AllGather(28)          the others: … AllGather(27) AllReduce(28)
//       → rank 5: … AllGather(27) AllReduce(28), clean run only; AllGather(28), defect run only

#pragma once

#include "model/job.h"
#include "replay/plan.h"
#include "replay/plan_seats.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// Adds those of the defect's calls whose places are known to the plan's ranks (for others see
/// extend_clean_run), and moves what was made instead, in excess or too
/// late to one of the two runs. A call takes its buffers and offsets from a rank that made it, its
/// stream from the rank's own calls on that communicator.
void add_missing_calls(const Job& job, const PlanSeats& seats, const RecordedDefect& defect,
                       ReplayPlan& plan);

}  // namespace ncclog
