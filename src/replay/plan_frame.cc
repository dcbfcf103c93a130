#include "replay/plan_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "replay/call_shape.h"
#include "replay/plan_end.h"
#include "replay/planned_settings.h"
#include "replay/shrink_plan.h"

namespace ncclog {
namespace {

constexpr const char* kWhere = "replay plan";

/// Some rank of the plan makes the call at the front.
bool holds_front(const ReplayPlan& plan, const FrontLine& front) {
  const bool by_message = plan.hypothesis.kind == DefectKind::Message;
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == front.communicator && call.index == front.index &&
             is_message(call.op) == by_message;
    });
  });
}

bool is_at(const PlannedCall& call, const FrontLine& front) {
  return call.communicator == front.communicator && call.index == front.index &&
         !is_message(call.op);
}

/// Some rank made messages behind the front's collective, which was over by then.
bool goes_on_with_messages(const ReplayPlan& plan, const FrontLine& front) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    const auto at = std::find_if(rank.calls.begin(), rank.calls.end(),
                                 [&](const PlannedCall& call) { return is_at(call, front); });
    return std::any_of(at, rank.calls.end(), [&](const PlannedCall& call) {
      return is_message(call.op) && call.communicator == front.communicator;
    });
  });
}

/// What the plan's calls cannot show is not claimed: a departure that makes no difference between
/// the runs, a front whose call is not among them, and one of collectives where messages stalled.
void limit_hypothesis(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (hypothesis.front && !holds_front(plan, *hypothesis.front)) hypothesis.front.reset();
  const bool is_stall = hypothesis.kind == DefectKind::Stall && hypothesis.front;
  if (is_stall && goes_on_with_messages(plan, *hypothesis.front)) hypothesis.front.reset();
  if (hypothesis.kind == DefectKind::None || has_defect(plan)) return;
  hypothesis.kind = DefectKind::Stall;
  hypothesis.departed.clear();
  if (hypothesis.front) hypothesis.front->missing.clear();
}

}  // namespace

bool is_empty(const ReplayPlan& plan) {
  return std::all_of(plan.ranks.begin(), plan.ranks.end(),
                     [](const PlannedRank& rank) { return rank.calls.empty(); });
}

ReplayPlan begin_plan(const Job& job, const std::vector<std::string>& logs) {
  ReplayPlan plan;
  plan.tool_version = version();
  plan.logs = logs;
  plan.nccl_versions = job.nccl_versions;
  if (job.cuda_versions.size() == 1) plan.cuda_version = job.cuda_versions.front();
  plan.recorded_nhosts = job.nhosts;
  return plan;
}

void refuse_untested(const PlanOptions& options, DefectKind defect) {
  if (defect != DefectKind::None) return;
  if (options.only_failing) {
    throw Error(
        "of no call is it known who left it out or made another one, so no communicator is "
        "the failing one",
        kWhere, "leave out --only failing");
  }
  if (options.finding.empty()) return;
  throw Error(
      fmt::format(
          "from these logs no call can be planned that stands still or differs because of '{}'",
          options.finding),
      kWhere, "leave out --finding to replay the last calls");
}

uint64_t drop_unmet(ReplayPlan& plan) {
  uint64_t dropped = 0;
  for (PlannedRank& rank : plan.ranks) {
    dropped += std::erase_if(
        rank.calls, [](const PlannedCall& call) { return call.made_in == MadeIn::Defect; });
  }
  return dropped;
}

bool reaches(const ReplayPlan& plan, int communicator, uint64_t index, bool by_message) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == communicator && call.index == index &&
             is_message(call.op) == by_message && call.made_in != MadeIn::Defect;
    });
  });
}

ReplayPlan finish_plan(const Job& job, const PlanSeats& seats, PlanMaking making,
                       const PlanOptions& options, ReplayPlan plan) {
  if (is_empty(plan) && making.clean_run_ends_before) {
    throw Error("the clean run ends before the call in question, and all ranks made no call of it",
                kWhere, "plan more calls before that one (--last), or collect all ranks' logs");
  }
  if (is_empty(plan)) {
    throw Error("the ranks of these logs have no call in common", kWhere,
                "collect whole logs of all ranks from one run");
  }
  making.after = end_at_front(plan);
  limit_hypothesis(plan);
  plan.settings = planned_settings(job, seats);
  plan.losses = plan_losses(job, seats, plan, making);
  plan.limits = plan_limits(job, plan);
  return options.gpus > 0 ? shrink_plan(plan, options.gpus) : plan;
}

}  // namespace ncclog
