#include "replay/result.h"

#include "base/version.h"
#include "replay/read_back.h"

namespace ncclog {
namespace {

/// `seen`: what the run's log says; nullptr: it was not read.
ReplayTiming timing_of(const RunOutcome& run, const CallTiming& timing, const ReadBack* seen) {
  ReplayTiming row{.settings = variation_text(run), .timing = timing};
  if (seen == nullptr || seen->path.bw <= 0) return row;
  row.link_bw = seen->path.bw;
  row.link_type = seen->path.type;
  const bool has_series = timing.series_busbw > 0;
  row.share = (has_series ? timing.series_busbw : timing.busbw) / row.link_bw;
  return row;
}

}  // namespace

ReplayResult make_result(const ReplayPlan& plan, std::string_view plan_hash,
                         const ReplayOutcome& outcome, std::span<const ReadBack> seen) {
  ReplayResult result;
  result.tool_version = version();
  result.plan = plan_hash;
  result.logs = plan.logs;
  result.nccl_versions = plan.nccl_versions;
  result.cuda_version = plan.cuda_version;
  result.recorded_nranks = plan.recorded_nranks;
  result.recorded_nhosts = plan.recorded_nhosts;
  result.hypothesis = plan.hypothesis;
  for (const PlannedCommunicator& comm : plan.communicators) {
    result.communicators.push_back(comm.id);
  }
  result.verdict = judge_replay(plan, outcome, seen);
  for (size_t r = 0; r < outcome.runs.size(); ++r) {
    for (const CallTiming& timing : outcome.runs[r].timings) {
      const ReadBack* own = r < seen.size() ? &seen[r] : nullptr;
      result.timings.push_back(timing_of(outcome.runs[r], timing, own));
    }
  }
  result.outcome = outcome;
  return result;
}

}  // namespace ncclog
