#include "replay/clean_run.h"

#include <algorithm>
#include <set>
#include <utility>

#include "replay/awaited_calls.h"
#include "replay/call_meetings.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

/// A group that is made in parts would be another group: it goes to the defect run as a whole.
void keep_groups_whole(PlannedRank& rank) {
  std::set<int> moved;
  for (const PlannedCall& call : rank.calls) {
    if (call.group >= 0 && call.made_in == MadeIn::Defect) moved.insert(call.group);
  }
  for (PlannedCall& call : rank.calls) {
    if (moved.contains(call.group)) call.made_in = MadeIn::Defect;
  }
}

bool is_at(const PlannedCall& call, const FrontLine& front, bool by_message) {
  return call.communicator == front.communicator && call.index == front.index &&
         is_message(call.op) == by_message;
}

/// A message has several of its number; the one that is meant is the missing rank's.
bool comes_to(const ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
  return std::any_of(front.missing.begin(), front.missing.end(), [&](int rank) {
    const auto r = static_cast<size_t>(rank);
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      const PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_added = !by_message || call.made_in == MadeIn::Clean;
      if (completed[r][c] && is_added && is_at(call, front, by_message)) return true;
    }
    return false;
  });
}

/// Inserts a call before what the rank does not come to, on the stream that it uses for such.
void insert_call(const std::vector<bool>& completed, AwaitedCall awaited, ReplayPlan& plan) {
  std::vector<PlannedCall>& calls = plan.ranks[static_cast<size_t>(awaited.rank)].calls;
  size_t place = 0;
  while (place < calls.size() && (completed[place] || calls[place].made_in == MadeIn::Defect)) {
    ++place;
  }
  const auto like = std::find_if(calls.rbegin(), calls.rend(), [&](const PlannedCall& call) {
    return call.communicator == awaited.call.communicator &&
           is_message(call.op) == is_message(awaited.call.op);
  });
  awaited.call.stream = like == calls.rend() ? 0 : like->stream;
  awaited.call.group = -1;
  awaited.call.made_in = MadeIn::Clean;
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(awaited.call));
}

/// One pass over the plan; true if something was moved or removed.
bool settle_once(ReplayPlan& plan, SendEnds sends, uint64_t& removed) {
  for (PlannedRank& rank : plan.ranks) keep_groups_whole(rank);
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
  bool changed = false;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    std::vector<PlannedCall> kept;
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_unmet = !completed[r][c] && call.made_in != MadeIn::Defect;
      const bool is_lost = is_unmet && call.made_in == MadeIn::Clean;
      changed |= is_unmet;
      removed += is_lost ? 1 : 0;
      if (is_unmet) call.made_in = MadeIn::Defect;
      if (!is_lost) kept.push_back(std::move(call));
    }
    plan.ranks[r].calls = std::move(kept);
  }
  return changed;
}

/// The call at the front is met, and so are those whose groups it or its other end are in.
bool settles_at(const ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  if (!comes_to(plan, front, by_message, sends)) return false;
  ReplayPlan settled = plan;
  settle_clean_run(settled, sends);
  return comes_to(settled, front, by_message, sends);
}

}  // namespace

std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan, SendEnds sends) {
  const CallMeetings met = meet_calls(plan, sends);
  std::vector<std::vector<bool>> result;
  for (size_t r = 0; r < met.units.size(); ++r) {
    result.emplace_back(plan.ranks[r].calls.size(), false);
    for (const LaunchUnit& unit : met.units[r]) {
      if (!unit.has_ended()) continue;
      for (const size_t call : unit.calls) result.back()[call] = true;
    }
  }
  return result;
}

int extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  constexpr int kMostRounds = 64;
  int others = 0;
  for (int round = 0; round < kMostRounds && !settles_at(plan, front, by_message, sends); ++round) {
    std::vector<AwaitedCall> awaited = awaited_calls(plan, front.missing, sends);
    if (by_message) {
      std::erase_if(awaited, [](const AwaitedCall& one) { return !is_message(one.call.op); });
    }
    if (awaited.empty()) break;
    const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
    const PlannedCall first = awaited.front().call;
    others += is_at(first, front, by_message) ? 0 : 1;
    for (AwaitedCall& one : awaited) {
      if (one.call != first) continue;
      insert_call(completed[static_cast<size_t>(one.rank)], std::move(one), plan);
    }
  }
  return others;
}

uint64_t settle_clean_run(ReplayPlan& plan, SendEnds sends) {
  uint64_t removed = 0;
  // A call whose group does not end is taken from others that met it.
  while (settle_once(plan, sends, removed)) {
  }
  return removed;
}

}  // namespace ncclog
