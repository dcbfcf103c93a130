// Does what a plan is to test point to what is in it?

#include <algorithm>

#include "replay/plan_complaints.h"

namespace ncclog {
namespace {

void check_listed_ranks(const std::vector<int>& ranks, const ReplayPlan& plan,
                        const std::string& where, PlanComplaints& complaints) {
  for (const int rank : ranks) {
    if (rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size()) continue;
    complaints.refuse(where, fmt::format("there is no ranks[{}]", rank));
  }
}

/// Whether some rank makes, in some run, the call that the front names.
bool is_call_of_plan(const FrontLine& front, const ReplayPlan& plan) {
  return std::any_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    return std::any_of(rank.calls.begin(), rank.calls.end(), [&](const PlannedCall& call) {
      return call.communicator == front.communicator && call.index == front.index;
    });
  });
}

void check_members(const std::vector<int>& ranks, const FrontLine& front, const ReplayPlan& plan,
                   const std::string& where, PlanComplaints& complaints) {
  const auto& members = plan.communicators[static_cast<size_t>(front.communicator)].ranks;
  for (const int rank : ranks) {
    if (std::find(members.begin(), members.end(), rank) != members.end()) continue;
    complaints.refuse(
        where, fmt::format("ranks[{}] is not in communicators[{}]", rank, front.communicator));
  }
}

void check_front(const FrontLine& front, const ReplayPlan& plan, PlanComplaints& complaints) {
  const std::string where = "hypothesis.front";
  if (front.communicator < 0 ||
      static_cast<size_t>(front.communicator) >= plan.communicators.size()) {
    complaints.refuse(where + ".communicator",
                      fmt::format("there is no communicators[{}]", front.communicator));
    return;
  }
  check_members(front.entered, front, plan, where + ".entered", complaints);
  check_members(front.missing, front, plan, where + ".missing", complaints);
  if (is_call_of_plan(front, plan)) return;
  complaints.refuse(where + ".index", fmt::format("no rank makes call {} of communicators[{}]",
                                                  front.index, front.communicator));
}

bool needs_two_runs(DefectKind kind) {
  return kind != DefectKind::None && kind != DefectKind::Stall;
}

/// Whether the two runs differ as the kind of defect says.
void check_kind(const ReplayPlan& plan, PlanComplaints& complaints) {
  const DefectKind kind = plan.hypothesis.kind;
  if (needs_two_runs(kind) && !has_defect(plan)) {
    complaints.refuse(
        "hypothesis.kind",
        fmt::format("'{}' is to be tested, but both runs make the same calls", to_string(kind)),
        "mark calls with \"made_in\": \"clean\" or \"defect\"");
  }
  if (!needs_two_runs(kind) && has_defect(plan)) {
    complaints.remark(
        "hypothesis.kind",
        fmt::format("'{}' names no departure, but the runs make different calls", to_string(kind)));
  }
  if (needs_two_runs(kind) && !plan.hypothesis.front) {
    complaints.remark("hypothesis.front",
                      "where the job stood still is not known, so that a hang cannot be held "
                      "against it");
  }
}

}  // namespace

void check_hypothesis(const ReplayPlan& plan, PlanComplaints& complaints) {
  check_listed_ranks(plan.hypothesis.departed, plan, "hypothesis.departed", complaints);
  if (plan.hypothesis.front) check_front(*plan.hypothesis.front, plan, complaints);
  check_kind(plan, complaints);
}

}  // namespace ncclog
