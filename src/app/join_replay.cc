#include "app/join_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/plan_file.h"
#include "app/replay_text.h"
#include "replay/plan/dump_plan.h"
#include "report/verdict_and_evidence.h"

namespace ncclog {
namespace {

/// The logs name it, or the Flight Recorder's dumps do, of which plans can be made, too.
bool has_communicator(const Job& job, const std::string& id) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  return std::any_of(job.communicators.begin(), job.communicators.end(),
                     [&](const Communicator& comm) { return comm.id == id; }) ||
         std::any_of(groups.begin(), groups.end(),
                     [&](const RecordedGroup& group) { return communicator_of(job, group) == id; });
}

/// Why the result is of other logs; empty: nothing speaks against these.
std::string why_unfit(const Report& report, const ReplayResult& result) {
  for (const std::string& id : result.communicators) {
    if (!has_communicator(report.job, id)) return fmt::format("they know no communicator {}", id);
  }
  const std::string& finding = result.hypothesis.finding;
  if (!finding.empty() && find_finding(report, finding) == nullptr) {
    return fmt::format("it tests the finding {}, which they do not show", finding);
  }
  return {};
}

std::string machine_of(const ReplayOutcome& outcome) {
  std::string out = gpus_phrase(outcome);
  if (outcome.nccl_version.empty()) return out;
  return out + (out.empty() ? "" : ", ") + "NCCL " + outcome.nccl_version;
}

}  // namespace

ReplayResult load_replay_result(const std::string& path) {
  return parse_result(read_replay_file(path), path);
}

ReplaySummary join_replay(const Report& report, const ReplayResult& result,
                          const std::string& path) {
  const ReplayVerdict& verdict = result.verdict;
  ReplaySummary replay;
  replay.file = path;
  replay.unfit = why_unfit(report, result);
  replay.finding = result.hypothesis.finding;
  replay.kind = to_string(verdict.kind);
  if (verdict.confidence) replay.confidence = to_string(*verdict.confidence);
  replay.headline = verdict.headline;
  replay.machine = machine_of(result.outcome);
  replay.runs = verdict.runs;
  replay.changed = verdict.changed;
  replay.limits = verdict.limits;
  replay.must_not_conclude = verdict.must_not_conclude;
  return replay;
}

}  // namespace ncclog
