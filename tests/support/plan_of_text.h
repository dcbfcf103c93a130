// Plans of logs held in memory, and plans in a few words.
//
//   0: AllReduce#0 AllReduce#1 -AllGather#2     + only in the clean run, - only in the defect run,
//   1: AllReduce#0 AllReduce#1 +AllGather#2     { } a group, @1 on communicator 1, #index
//   missing-call by 1 at 0#2, entered 0, missing 1

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/plan/build_plan.h"
#include "replay/plan/plan.h"

namespace ncclog::testing {

/// The calls of a text that a plan with these options takes.
RecordedCalls recorded_of(const Job& job, std::string_view text, uint64_t last);

/// What `ncclog replay plan` makes of a log. Throws as build_plan and refuse_unknown_calls do.
ReplayPlan plan_of_text(std::string_view text, const PlanOptions& options = {},
                        const std::vector<Suspicion>& suspicions = {});

/// The calls of one rank.
std::string program_words(const PlannedRank& rank);

/// All ranks' calls and, unless it is none, the hypothesis; a line each.
std::string plan_words(const ReplayPlan& plan);

/// True if the clean run comes to the end of every call that it makes; where the plan says that it
/// needs NCCL's buffers for that, with them.
bool clean_run_completes(const ReplayPlan& plan);

}  // namespace ncclog::testing
