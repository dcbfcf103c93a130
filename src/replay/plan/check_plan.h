// Does a plan make sense, and is it safe to carry out?
//
//   refusal  ranks[1].calls[4]      rank 1 makes ReduceScatter as collective 4 of communicator 0,
//                                   rank 0 AllReduce
//   remark   settings[2]            …
//
// The planner's own plans pass. A plan is a file, though: people edit it, and pass it on. What is
// wrong would hang, crash or harm, or would prove nothing. Calls of the run in which all ranks
// behave have to fit each other; those of the other run need not: they are what is tested.

#pragma once

#include <string>
#include <vector>

#include "replay/plan/plan.h"

namespace ncclog {

/// One thing that is wrong with a plan, or that somebody should know of it.
struct PlanComplaint {
  enum class Weight {
    Refusal,  ///< The plan is not carried out.
    Remark,   ///< It is, but somebody should know.
  };

  Weight weight = Weight::Refusal;
  std::string where;  ///< "ranks[1].calls[4]", as in the file; empty: the plan as a whole.
  std::string what;   ///< One sentence without its full stop.
  std::string hint;   ///< What to do about it; may be empty.

  bool operator==(const PlanComplaint&) const = default;
};

/// What is wrong with the plan, in the order of its text; at most about a hundred. Programs are
/// compared only where places, ranks and functions make sense, so a mended plan may have more.
std::vector<PlanComplaint> check_plan(const ReplayPlan& plan);

/// True if one of them is a refusal.
bool is_refused(const std::vector<PlanComplaint>& complaints);

}  // namespace ncclog
