#include "model/call_coverage.h"

#include <algorithm>

#include "log/known_messages.h"
#include "model/rank_segment.h"

namespace ncclog {
namespace {

bool prints_calls(const Job& job, const Process& process) {
  return std::any_of(process.logs.begin(), process.logs.end(), [&](size_t log) {
    const auto& segments = job.logs[log].comms.all;
    return std::any_of(segments.begin(), segments.end(), [](const CommSegment& segment) {
      return segment.calls.total + segment.traces.total > 0;
    });
  });
}

/// A log and its copy, or one that was rotated, hold a call twice or in an unknown order.
bool is_in_one_input(const Job& job, const CollectiveCalls& calls) {
  const JobUnit* first = unit_of(job, calls.first);
  const JobUnit* last = unit_of(job, calls.last);
  return first != nullptr && last != nullptr && first->input == last->input;
}

/// Where the rank is known from the communicator's end only, what came before it is missing.
bool has_its_beginning(const CommSegment& segment) {
  return segment.rank < 0 || segment.started.line != 0 || segment.completed.line != 0 ||
         segment.announced.line != 0;
}

/// Without initialisation lines processes are joined by the communicator's size alone. Several
/// communicators of one size cannot be told apart.
bool is_a_guess(const Job& job, const Communicator& comm, const CommRank& rank) {
  if (rank.rank >= 0 || !comm.inferred) return false;
  return std::any_of(job.communicators.begin(), job.communicators.end(), [&](const auto& other) {
    return &other != &comm && other.inferred && other.nranks == comm.nranks;
  });
}

}  // namespace

const CollectiveCalls* calls_of(const Job& job, const CommRank& rank) {
  if (rank.log < 0 || rank.segment < 0) return nullptr;
  return &calls_of(segment_of(job, rank));
}

CallCoverage call_coverage(const Job& job, const Communicator& comm, const CommRank& rank) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || rank.process < 0) return CallCoverage::Unknown;
  const Process& process = job.processes[static_cast<size_t>(rank.process)];
  const bool lines_are_missing =
      process.torn || process.restarted || job.losses.count(Loss::LineLeftOut) > 0;
  if (lines_are_missing || !prints_calls(job, process)) return CallCoverage::Unknown;
  if (calls->total > 0 && !is_in_one_input(job, *calls)) return CallCoverage::Unknown;
  if (!has_its_beginning(segment_of(job, rank)) || is_a_guess(job, comm, rank)) {
    return CallCoverage::Unknown;
  }
  return process.cut ? CallCoverage::AtLeast : CallCoverage::Counted;
}

}  // namespace ncclog
