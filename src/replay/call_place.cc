#include "replay/call_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

const PlannedRank* rank_at(const ReplayPlan& plan, int rank) {
  const bool is_there = rank >= 0 && static_cast<size_t>(rank) < plan.ranks.size();
  return is_there ? &plan.ranks[static_cast<size_t>(rank)] : nullptr;
}

/// The call at that place of the rank's calls in one mode; nullptr if it makes fewer.
const PlannedCall* call_at(const std::vector<PlannedCall>& calls, uint64_t place) {
  return place < calls.size() ? &calls[place] : nullptr;
}

std::optional<CallPlace> first_departure(const ReplayPlan& plan) {
  const std::vector<int>& departed = plan.hypothesis.departed;
  for (const int number : departed) {
    const PlannedRank* rank = rank_at(plan, number);
    if (rank == nullptr) continue;
    const auto call = std::find_if(rank->calls.begin(), rank->calls.end(),
                                   [](const auto& one) { return one.made_in != MadeIn::Both; });
    if (call != rank->calls.end()) return place_of(*call);
  }
  return std::nullopt;
}

/// What a rank with an error had begun and not completed.
std::optional<CallPlace> place_of_error(const ReplayPlan& plan, MadeIn mode,
                                        const RankOutcome& outcome) {
  const PlannedRank* rank = rank_at(plan, outcome.rank);
  if (rank == nullptr || outcome.error.empty()) return std::nullopt;
  const std::vector<PlannedCall> calls = calls_in(*rank, mode);
  const uint64_t place = outcome.open.empty() ? outcome.completed : outcome.open.front();
  const PlannedCall* call = call_at(calls, place);
  return call == nullptr ? std::nullopt : std::optional(place_of(*call));
}

/// A wrong element, by how early its rank makes the call.
struct WrongPlace {
  uint64_t order = 0;
  CallPlace place;
};

std::optional<WrongPlace> first_wrong(const ReplayPlan& plan, const RunOutcome& run) {
  std::optional<WrongPlace> first;
  for (const RankOutcome& outcome : run.ranks) {
    const PlannedRank* rank = rank_at(plan, outcome.rank);
    if (rank == nullptr || !outcome.verified.first) continue;
    const uint64_t order = outcome.verified.first->call;
    const std::vector<PlannedCall> calls = calls_in(*rank, run.mode);
    const PlannedCall* call = call_at(calls, order);
    if (call == nullptr || (first && first->order <= order)) continue;
    first = {order, place_of(*call)};
  }
  return first;
}

/// The call at that place as ranks that behave make it; nullptr: nobody makes one.
const PlannedCall* call_of(const ReplayPlan& plan, const CallPlace& place) {
  const PlannedCall* found = nullptr;
  for (const PlannedRank& rank : plan.ranks) {
    for (const PlannedCall& call : rank.calls) {
      if (place_of(call) != place) continue;
      if (call.made_in != MadeIn::Defect) return &call;
      if (found == nullptr) found = &call;
    }
  }
  return found;
}

}  // namespace

CallPlace place_of(const PlannedCall& call) { return {call.communicator, call.index}; }

CallPlace place_of(const FrontLine& front) { return {front.communicator, front.index}; }

std::optional<FrontLine> expected_place(const ReplayPlan& plan) {
  if (plan.hypothesis.kind == DefectKind::None) return std::nullopt;
  if (plan.hypothesis.front) return plan.hypothesis.front;
  const std::optional<CallPlace> place = first_departure(plan);
  if (!place) return std::nullopt;
  return FrontLine{.communicator = place->communicator, .index = place->index};
}

std::optional<CallPlace> stop_of(const ReplayPlan& plan, const RunOutcome& run) {
  if (run.front) return place_of(*run.front);
  if (run.end == RunEnd::Failed) {
    for (const RankOutcome& rank : run.ranks) {
      if (const auto place = place_of_error(plan, run.mode, rank)) return place;
    }
  }
  if (const auto wrong = first_wrong(plan, run)) return wrong->place;
  return std::nullopt;
}

std::string place_text(const ReplayPlan& plan, const CallPlace& place) {
  const bool is_known = place.communicator >= 0 &&
                        static_cast<size_t>(place.communicator) < plan.communicators.size();
  const std::string id =
      is_known ? printable(plan.communicators[static_cast<size_t>(place.communicator)].id) : "?";
  const PlannedCall* call = call_of(plan, place);
  if (call == nullptr) return fmt::format("call {} of communicator {}", place.index + 1, id);
  return fmt::format("{}, {} {} of communicator {}", printable(call->op),
                     is_message(call->op) ? "message" : "call", place.index + 1, id);
}

std::string ranks_phrase(const ReplayPlan& plan, std::span<const int> ranks) {
  std::vector<int> recorded;
  std::vector<std::string> unnamed;
  for (const int number : ranks) {
    const PlannedRank* rank = rank_at(plan, number);
    if (rank != nullptr && rank->recorded_rank >= 0) {
      recorded.push_back(rank->recorded_rank);
    } else {
      unnamed.push_back(fmt::format("rank {} of the plan", number));
    }
  }
  std::sort(recorded.begin(), recorded.end());
  if (!recorded.empty()) {
    unnamed.insert(unnamed.begin(), fmt::format("rank{} {}", recorded.size() == 1 ? "" : "s",
                                                ranges_text(recorded)));
  }
  return join(unnamed, " and ");
}

}  // namespace ncclog
