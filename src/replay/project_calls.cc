#include "replay/project_calls.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace ncclog {
namespace {

/// By communicator of `from`, its number in `to`; -1: it takes no part.
std::vector<int> new_numbers(const PlanSeats& from, const PlanSeats& to) {
  std::vector<int> numbers;
  for (const int communicator : from.communicators) numbers.push_back(to.place_of(communicator));
  return numbers;
}

std::vector<PlannedCall> kept_calls(const std::vector<PlannedCall>& calls,
                                    const std::vector<int>& numbers) {
  std::vector<PlannedCall> kept;
  std::map<int, int> streams;
  std::map<int, int> sizes;
  for (PlannedCall call : calls) {
    call.communicator = numbers[static_cast<size_t>(call.communicator)];
    if (call.communicator < 0) continue;
    call.stream = streams.try_emplace(call.stream, static_cast<int>(streams.size())).first->second;
    ++sizes[call.group];
    kept.push_back(std::move(call));
  }
  for (PlannedCall& call : kept) {
    if (sizes[call.group] == 1) call.group = -1;
  }
  return kept;
}

/// The seat of `from` that is that seat of `to`.
size_t same_seat(const PlanSeats& from, const Seat& seat) {
  const auto found = std::find_if(from.seats.begin(), from.seats.end(), [&](const Seat& other) {
    return other.process == seat.process && other.cuda_dev == seat.cuda_dev;
  });
  return static_cast<size_t>(std::distance(from.seats.begin(), found));
}

}  // namespace

void project_calls(const ReplayPlan& all, const PlanSeats& from, const PlanSeats& to,
                   ReplayPlan& plan) {
  const std::vector<int> numbers = new_numbers(from, to);
  for (size_t s = 0; s < to.seats.size(); ++s) {
    const size_t before = same_seat(from, to.seats[s]);
    if (before == from.seats.size()) continue;
    plan.ranks[s].calls = kept_calls(all.ranks[before].calls, numbers);
  }
}

}  // namespace ncclog
