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

/// The message that one rank makes in the clean run only; nullptr: none at the front.
const PlannedCall* added_message(const ReplayPlan& plan, const FrontLine& front) {
  for (const int rank : front.missing) {
    for (const PlannedCall& call : plan.ranks[static_cast<size_t>(rank)].calls) {
      const bool is_added = is_message(call.op) && call.made_in == MadeIn::Clean;
      const bool is_there = call.communicator == front.communicator && call.index == front.index;
      if (is_added && is_there) return &call;
    }
  }
  return nullptr;
}

/// Messages behind the added one, at both ends: the first of them would take its place.
uint64_t end_at_message(ReplayPlan& plan) {
  const FrontLine& front = *plan.hypothesis.front;
  const PlannedCall* found = added_message(plan, front);
  if (found == nullptr) return 0;
  const PlannedCall added = *found;
  const auto& ranks = plan.communicators[static_cast<size_t>(front.communicator)].ranks;
  const int peer = ranks[static_cast<size_t>(added.root)];
  const int own = front.missing.front();
  const auto number = std::find(ranks.begin(), ranks.end(), own) - ranks.begin();
  uint64_t removed =
      std::erase_if(plan.ranks[static_cast<size_t>(own)].calls, [&](const auto& call) {
        return call.communicator == added.communicator && call.op == added.op &&
               call.root == added.root && call.index >= added.index &&
               call.made_in != MadeIn::Clean;
      });
  removed += std::erase_if(plan.ranks[static_cast<size_t>(peer)].calls, [&](const auto& call) {
    return call.communicator == added.communicator && is_message(call.op) && call.op != added.op &&
           call.root == number && call.index > added.index;
  });
  return removed;
}

}  // namespace

uint64_t end_at_front(ReplayPlan& plan) {
  Hypothesis& hypothesis = plan.hypothesis;
  if (!hypothesis.front) return 0;
  if (hypothesis.kind == DefectKind::Message) return end_at_message(plan);
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
