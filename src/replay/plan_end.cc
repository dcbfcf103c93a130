#include "replay/plan_end.h"

#include <algorithm>

#include "replay/call_shape.h"

namespace ncclog {
namespace {

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// The front says that they came, though with another call.
std::vector<int> ranks_that_left_it_out(const Hypothesis& hypothesis) {
  std::vector<int> ranks;
  if (hypothesis.kind != DefectKind::MissingCall) return ranks;
  std::copy_if(hypothesis.departed.begin(), hypothesis.departed.end(), std::back_inserter(ranks),
               [&](int rank) { return contains(hypothesis.front->entered, rank); });
  return ranks;
}

void move_to_missing(FrontLine& front, const std::vector<int>& ranks) {
  std::erase_if(front.entered, [&](int rank) { return contains(ranks, rank); });
  front.missing.insert(front.missing.end(), ranks.begin(), ranks.end());
  std::sort(front.missing.begin(), front.missing.end());
}

}  // namespace

uint64_t end_at_front(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front || hypothesis.kind == DefectKind::Message) return 0;
  FrontLine& front = *hypothesis.front;
  const std::vector<int> without = ranks_that_left_it_out(hypothesis);
  uint64_t removed = 0;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const bool left_it_out = contains(without, static_cast<int>(r));
    removed += std::erase_if(plan.ranks[r].calls, [&](const PlannedCall& call) {
      if (call.communicator != front.communicator || is_message(call.op)) return false;
      const bool is_instead =
          left_it_out && call.index == front.index && call.made_in != MadeIn::Clean;
      return call.index > front.index || is_instead;
    });
  }
  move_to_missing(front, without);
  return removed;
}

}  // namespace ncclog
