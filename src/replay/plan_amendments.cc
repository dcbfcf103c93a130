#include "replay/plan_amendments.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "replay/call_shape.h"
#include "replay/plan_programs.h"

namespace ncclog {
namespace {

using Calls = std::vector<PlannedCall>;

/// The call without stream, buffers and number.
auto sameness(const PlannedCall& call) {
  return std::tie(call.communicator, call.op, call.count, call.datatype, call.redop, call.root);
}

/// True for collectives of one communicator, and for messages to, or from, one of its ranks: they
/// count in one sequence.
bool counts_with(const PlannedCall& a, const PlannedCall& b) {
  if (a.communicator != b.communicator || is_message(a.op) != is_message(b.op)) return false;
  return !is_message(a.op) || (a.op == b.op && a.root == b.root);
}

/// A collective as some rank made it; nullptr: none of the plan did.
const PlannedCall* find_made(const ReplayPlan& plan, const PlannedCall& wanted) {
  for (const PlannedRank& rank : plan.ranks) {
    const auto made = std::find_if(rank.calls.begin(), rank.calls.end(), [&](const auto& call) {
      return call.index == wanted.index && sameness(call) == sameness(wanted);
    });
    if (made != rank.calls.end()) return &*made;
  }
  return nullptr;
}

/// The other end of a message; nullptr: the plan does not hold it.
const PlannedCall* find_other_end(const PlanSeats& seats, const Job& job, const AddedCall& added,
                                  const PlannedCall& wanted, const ReplayPlan& plan) {
  const std::vector<int> ranks = seats.ranks_of(job, added.call.by.communicator);
  const int own = seats.number_of(added.call.by.communicator, rank_of(job, added.call.by).rank);
  const auto& calls =
      plan.ranks[static_cast<size_t>(ranks[static_cast<size_t>(wanted.root)])].calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
    return call.communicator == wanted.communicator && is_message(call.op) &&
           call.op != wanted.op && call.root == own && call.index == wanted.index;
  });
  return found == calls.end() ? nullptr : &*found;
}

std::optional<PlannedCall> completed_message(const Job& job, const PlanSeats& seats,
                                             const AddedCall& added, const ReplayPlan& plan) {
  PlannedCall call = planned_call(
      job, seats, {.by = added.call.by, .index = added.call.index, .call = added.call.call});
  const PlannedCall* other = find_other_end(seats, job, added, call, plan);
  if (other == nullptr) return std::nullopt;
  call.count = other->count;
  call.datatype = other->datatype;
  call.send_offset = call.recv_offset = 0;
  return call;
}

/// The collective with what the lines of those tell who made it; nullopt: no rank did.
std::optional<PlannedCall> completed_call(const Job& job, const PlanSeats& seats,
                                          const AddedCall& added, const ReplayPlan& plan) {
  PlannedCall call = planned_call(
      job, seats, {.by = added.call.by, .index = added.call.index, .call = added.call.call});
  const PlannedCall* made = find_made(plan, call);
  if (made == nullptr) return std::nullopt;
  call.in_place = made->in_place;
  call.send_offset = made->send_offset;
  call.recv_offset = made->recv_offset;
  return call;
}

/// The first call of the group that `at` stands in, or itself.
size_t begin_of_group(const Calls& calls, size_t at) {
  while (at > 0 && at < calls.size() && calls[at].group >= 0 &&
         calls[at - 1].group == calls[at].group) {
    --at;
  }
  return at;
}

/// Communicator, function and peer of a call, by which it counts in the plan.
PlannedCall sequence_of(const PlanSeats& seats, const NumberedCall& call) {
  PlannedCall result;
  result.communicator = seats.place_of(call.by.communicator);
  result.op = call.call.op.view();
  result.root = seats.number_of(call.by.communicator, call.call.root);
  return result;
}

size_t place_of(const PlanSeats& seats, const Calls& calls, const NumberedCall& before) {
  const PlannedCall wanted = sequence_of(seats, before);
  const auto found = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& other) {
    return counts_with(other, wanted) && other.index == before.index;
  });
  return begin_of_group(calls, static_cast<size_t>(found - calls.begin()));
}

int usual_stream(const Calls& calls, const PlannedCall& call) {
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [&](const PlannedCall& other) {
    return other.communicator == call.communicator && is_message(other.op) == is_message(call.op);
  });
  return last == calls.rend() ? 0 : last->stream;
}

/// The rank of the plan that a member is; nullptr: it takes no part.
PlannedRank* rank_of_member(const PlanSeats& seats, const Membership& member, ReplayPlan& plan) {
  const auto seat = seats.seat_of.find(member);
  const bool is_there = seat != seats.seat_of.end() && seats.place_of(member.communicator) >= 0;
  return is_there ? &plan.ranks[static_cast<size_t>(seat->second)] : nullptr;
}

void strike(const PlanSeats& seats, const NumberedCall& from, ReplayPlan& plan) {
  PlannedRank* rank = rank_of_member(seats, from.by, plan);
  if (rank == nullptr) return;
  const PlannedCall struck = sequence_of(seats, from);
  for (PlannedCall& call : rank->calls) {
    if (counts_with(call, struck) && call.index >= from.index) call.made_in = MadeIn::Defect;
  }
}

void hold_back(const PlanSeats& seats, const NumberedCall& from, ReplayPlan& plan) {
  PlannedRank* rank = rank_of_member(seats, from.by, plan);
  if (rank == nullptr) return;
  const int communicator = seats.place_of(from.by.communicator);
  const auto late = std::find_if(rank->calls.begin(), rank->calls.end(), [&](const auto& call) {
    return call.communicator == communicator && !is_message(call.op) && call.index >= from.index;
  });
  const auto begin = begin_of_group(rank->calls, static_cast<size_t>(late - rank->calls.begin()));
  for (size_t c = begin; c < rank->calls.size(); ++c) rank->calls[c].made_in = MadeIn::Clean;
}

}  // namespace

void add_missing_calls(const Job& job, const PlanSeats& seats, const RecordedDefect& defect,
                       ReplayPlan& plan) {
  for (const AddedCall& added : defect.added) {
    PlannedRank* rank = rank_of_member(seats, added.call.by, plan);
    if (rank == nullptr || !added.before) continue;
    std::optional<PlannedCall> call = is_message(added.call.call.op.view())
                                          ? completed_message(job, seats, added, plan)
                                          : completed_call(job, seats, added, plan);
    if (!call) continue;
    Calls& calls = rank->calls;
    const size_t place = place_of(seats, calls, *added.before);
    call->stream = usual_stream(calls, *call);
    call->made_in = MadeIn::Clean;
    for (PlannedCall& own : calls) {
      const bool is_behind = counts_with(own, *call) && own.index >= call->index;
      if (is_behind && own.made_in == MadeIn::Both) own.made_in = MadeIn::Defect;
    }
    calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(*call));
  }
  for (const NumberedCall& from : defect.struck) strike(seats, from, plan);
  for (const NumberedCall& from : defect.late) hold_back(seats, from, plan);
}

}  // namespace ncclog
