// How every plan begins and ends, whatever its calls were taken from: lines of NCCL
// (replay/build_plan.h) or dumps of the Flight Recorder (replay/dump_plan.h).

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"
#include "replay/build_plan.h"
#include "replay/plan.h"
#include "replay/plan_remarks.h"
#include "replay/plan_seats.h"
#include "replay/recorded_defect.h"

namespace ncclog {

/// A plan that says what it is of, and holds no ranks yet. `logs` as the user named them.
ReplayPlan begin_plan(const Job& job, const std::vector<std::string>& logs);

/// Throws Error if a finding is named, or only what fails is wanted, and there is no defect.
void refuse_untested(const PlanOptions& options, DefectKind defect);

/// Drops what is made in the defect run only; gives how many calls that were.
uint64_t drop_unmet(ReplayPlan& plan);

/// Some call of that number, made in the clean run or in both, is in the plan. `by_message` as
/// PlannedCall::index counts.
bool reaches(const ReplayPlan& plan, int communicator, uint64_t index, bool by_message);

/// Ends the plan at its front, takes back what its calls cannot show, adds settings and remarks,
/// and leaves ranks out if there are more than wanted. `seats` are the plan's ranks, or none where
/// their processes are not known. Throws Error if no call is left.
ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan);

/// True if no rank makes a call, in either run.
bool is_empty(const ReplayPlan& plan);

}  // namespace ncclog
