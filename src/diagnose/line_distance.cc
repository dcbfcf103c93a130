#include "diagnose/line_distance.h"

#include <algorithm>

#include "log/line_time.h"

namespace ncclog {
namespace {

/// Calls of the sequence before a place.
CallBounds calls_before(const CallSequence& calls, SourceRef where) {
  const uint64_t from = calls.kept_from();
  uint64_t low = from;
  uint64_t high = calls.size();
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    (calls.call(middle)->where < where ? low : high) = middle + (calls.call(middle)->where < where);
  }
  if (from == 0 || low > from) return {low, low};
  CallBounds bounds{0, from};
  for (const CallCheckpoint& point : calls.checkpoints()) {
    if (point.index > from) break;
    if (point.where < where) {
      bounds.at_least = std::min(point.index + 1, from);
    } else {
      bounds.at_most = std::min(bounds.at_most, point.index);
      break;
    }
  }
  return bounds;
}

}  // namespace

bool are_ordered(const Job& job, SourceRef a, SourceRef b) {
  if (a.unit == b.unit) return true;
  const JobUnit* first = unit_of(job, a);
  const JobUnit* second = unit_of(job, b);
  return first != nullptr && second != nullptr && first->input == second->input;
}

std::optional<CallBounds> calls_between(const Job& job, int process, SourceRef from, SourceRef to) {
  const Process& speaker = job.processes[static_cast<size_t>(process)];
  if (speaker.torn || speaker.restarted || job.losses.count(Loss::LineLeftOut) > 0) {
    return std::nullopt;
  }
  bool any = false;
  CallBounds sum;
  for (const size_t log : speaker.logs) {
    if (!job.logs[log].unplaced.empty()) return std::nullopt;
    for (const CommSegment& segment : job.logs[log].comms.all) {
      const CollectiveCalls& calls = calls_of(segment);
      if (calls.total == 0) continue;
      if (!are_ordered(job, calls.first, from) || !are_ordered(job, calls.last, from)) {
        return std::nullopt;
      }
      any = true;
      const CallBounds before = calls_before(calls.collectives, from);
      const CallBounds until = calls_before(calls.collectives, to);
      sum.at_least += until.at_least - std::min(until.at_least, before.at_most);
      sum.at_most += until.at_most - before.at_least;
    }
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<int64_t> nanoseconds_between(std::string_view from, std::string_view to) {
  const LineTime a = time_of_line(from);
  const LineTime b = time_of_line(to);
  if (!a.known() || !b.known() || a.has_zone != b.has_zone) return std::nullopt;
  if (a.year != b.year && a.year != 0 && b.year != 0) return std::nullopt;
  if (b.nanoseconds < a.nanoseconds) return std::nullopt;
  return b.nanoseconds - a.nanoseconds;
}

}  // namespace ncclog
