#include "replay/shrink_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "replay/kept_ranks.h"
#include "replay/plan_frame.h"
#include "replay/smaller_plan.h"

namespace ncclog {
namespace {

/// True if both runs make the same calls; of the communicator that stands still, if one does.
bool runs_are_alike(const ReplayPlan& plan) {
  const auto is_elsewhere = [&](const PlannedCall& call) {
    const auto& front = plan.hypothesis.front;
    return front && call.communicator != front->communicator;
  };
  return std::all_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    std::vector<PlannedCall> clean = calls_in(rank, MadeIn::Clean);
    std::vector<PlannedCall> defect = calls_in(rank, MadeIn::Defect);
    for (auto* calls : {&clean, &defect}) {
      std::erase_if(*calls, is_elsewhere);
      for (PlannedCall& call : *calls) call.made_in = MadeIn::Both;
    }
    return clean == defect;
  });
}

ReplayPlan with_ranks(const ReplayPlan& plan, int gpus) {
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  return smaller_plan(plan, kept_ranks(plan, gpus));
}

}  // namespace

ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus) {
  if (gpus < 2) {
    throw Error("a replay needs at least two GPUs", "--gpus",
                "one rank alone has nobody to call with");
  }
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  ReplayPlan small = with_ranks(plan, gpus);
  if (is_empty(small)) {
    throw Error(fmt::format("with {} GPUs no call is left: those of the ranks that are kept name "
                            "others",
                            gpus),
                "--gpus", "take more GPUs, or leave out --gpus for a plan of all ranks");
  }
  if (!runs_are_alike(small) || runs_are_alike(plan)) return small;
  int enough = gpus + 1;
  while (runs_are_alike(with_ranks(plan, enough))) ++enough;
  throw Error(fmt::format("with {} GPUs both runs would make the same calls: what departs from "
                          "the others names ranks that are left out",
                          gpus),
              "--gpus", fmt::format("{} GPUs will do", enough));
}

}  // namespace ncclog
