#include "replay/exec/call_times.h"

#include <algorithm>
#include <utility>

#include "replay/call_shape.h"

namespace ncclog {
namespace {

bool is_it(const PlannedCall& call, const TimedCall& timed) {
  return !is_message(call.op) && call.communicator == timed.communicator &&
         call.index == timed.index;
}

/// Whether all ranks of the call's communicator make it in the clean run.
bool is_made_by_all(const ReplayPlan& plan, const TimedCall& timed) {
  const std::vector<int>& ranks = plan.communicators[timed.communicator].ranks;
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    return find_timed_call(calls_in(plan.ranks[rank], MadeIn::Clean), timed).has_value();
  });
}

int64_t bytes_of(const ReplayPlan& plan, const PlannedCall& call) {
  return operation_bytes(call,
                         static_cast<int>(plan.communicators[call.communicator].ranks.size()));
}

double gigabytes_per_second(int64_t bytes, double microseconds) {
  return microseconds > 0 ? static_cast<double>(bytes) / microseconds / 1e3 : 0;
}

/// The middle one, or the mean of the two in the middle. Precondition: sorted and not empty.
double median_of(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

std::optional<size_t> find_timed_call(std::span<const PlannedCall> calls, const TimedCall& timed) {
  for (size_t i = 0; i < calls.size(); ++i) {
    if (is_it(calls[i], timed)) return i;
  }
  return std::nullopt;
}

std::optional<TimedCall> choose_timed_call(const ReplayPlan& plan) {
  if (plan.ranks.empty()) return std::nullopt;
  const std::vector<PlannedCall> calls = calls_in(plan.ranks[0], MadeIn::Clean);
  if (const auto& front = plan.hypothesis.front) {
    const TimedCall recorded{front->communicator, front->index};
    if (find_timed_call(calls, recorded) && is_made_by_all(plan, recorded)) return recorded;
  }
  std::optional<TimedCall> largest;
  std::pair<int64_t, bool> most{-1, false};
  for (const PlannedCall& call : calls) {
    // Of equals AllReduce, which most figures of other programs are of.
    const std::pair worth{bytes_of(plan, call), call.op == "AllReduce"};
    const TimedCall candidate{call.communicator, call.index};
    if (is_message(call.op) || worth <= most || !is_made_by_all(plan, candidate)) continue;
    largest = candidate;
    most = worth;
  }
  return largest;
}

CallTiming timing_of(const PlannedCall& call, uint64_t place, int nranks, MeasuredRuns runs) {
  std::sort(runs.warm.begin(), runs.warm.end());
  CallTiming timing{.call = place,
                    .op = call.op,
                    .bytes = operation_bytes(call, nranks),
                    .runs = static_cast<int>(runs.warm.size()),
                    .cold_us = runs.cold,
                    .median_us = median_of(runs.warm),
                    .least_us = runs.warm.front(),
                    .most_us = runs.warm.back(),
                    .series_us = runs.series};
  const double factor = bus_factor(call.op, nranks);
  timing.algbw = gigabytes_per_second(timing.bytes, timing.median_us);
  timing.busbw = timing.algbw * factor;
  timing.series_busbw = gigabytes_per_second(timing.bytes, timing.series_us) * factor;
  return timing;
}

}  // namespace ncclog
