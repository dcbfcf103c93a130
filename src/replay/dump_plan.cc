#include "replay/dump_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/recorder_verdict.h"
#include "replay/clean_run.h"
#include "replay/dump_calls.h"
#include "replay/dump_defect.h"
#include "replay/dump_groups.h"
#include "replay/dump_ranks.h"
#include "replay/plan_frame.h"

namespace ncclog {
namespace {

PlanMaking make_runs(const std::vector<DumpedGroup>& groups, const DumpedDefect& defect,
                     ReplayPlan& plan) {
  PlanMaking making{.from_dumps = true, .split = defect.split};
  for (const DumpedGroup& dumped : groups) making.not_replayable += dumped.window.left_out.size();
  const Hypothesis& hypothesis = defect.hypothesis;
  put_right(groups, defect, plan);
  if (hypothesis.kind == DefectKind::MissingCall) {
    making.awaited = extend_clean_run(plan, *hypothesis.front, /*by_message=*/false);
  }
  settle_clean_run(plan);
  const bool is_healthy =
      hypothesis.kind == DefectKind::None || hypothesis.kind == DefectKind::Stall;
  if (is_healthy) making.unmet = drop_unmet(plan);
  making.clean_run_ends_before =
      !is_healthy &&
      !reaches(plan, hypothesis.front->communicator, hypothesis.front->index, /*by_message=*/false);
  return making;
}

/// Of each group, who left no dump that can be used.
std::vector<std::string> absent_ranks(const Job& job, const std::vector<DumpedGroup>& groups) {
  std::vector<std::string> sentences;
  for (const DumpedGroup& dumped : groups) {
    std::vector<int> absent;
    for (const RecordedRank& rank : dumped.group->ranks) {
      const bool is_known =
          std::find(dumped.ranks.begin(), dumped.ranks.end(), &rank) != dumped.ranks.end();
      if (!is_known) absent.push_back(rank.rank);
    }
    if (absent.empty()) continue;
    sentences.push_back(absent_words(communicator_of(job, *dumped.group), absent.size(), absent));
  }
  return sentences;
}

int largest_group(const std::vector<DumpedGroup>& groups) {
  size_t most = 0;
  for (const DumpedGroup& dumped : groups) most = std::max(most, dumped.group->ranks.size());
  return static_cast<int>(most);
}

/// Versions that the dumps name, where no line of NCCL does.
std::vector<std::string> dumped_versions(const Job& job) {
  std::set<std::string> versions;
  for (const FlightRecorderDump& dump : job.flight_recorders) {
    if (!dump.nccl_version.empty()) versions.insert(to_valid_utf8(dump.nccl_version));
  }
  return {versions.begin(), versions.end()};
}

}  // namespace

bool dumps_hold_calls(const Job& job) {
  const std::vector<RecordedGroup> groups = recorded_groups(job);
  return std::any_of(groups.begin(), groups.end(),
                     [](const RecordedGroup& group) { return !known_ranks(group).empty(); });
}

ReplayPlan plan_of_dumps(const Job& job, const Suspicion& suspicion, const PlanOptions& options,
                         const std::vector<std::string>& logs) {
  const std::vector<RecordedGroup> recorded = recorded_groups(job);
  const RecorderVerdict verdict = recorder_verdict(job);
  refuse_untested(options, kind_of(verdict));
  const std::vector<DumpedGroup> groups = dumped_groups(recorded, verdict, options);
  const SeatOfRank seat_of = seats_of_ranks(groups);
  const PlanSeats seats = dumped_processes(groups, seat_of);
  ReplayPlan plan = begin_plan(job, logs);
  if (plan.nccl_versions.empty()) plan.nccl_versions = dumped_versions(job);
  plan.recorded_nranks = job.nranks.value_or(largest_group(groups));
  add_dumped(job, groups, seat_of, seats, plan);
  const DumpedDefect defect = dumped_defect(groups, seat_of, verdict);
  PlanMaking making = make_runs(groups, defect, plan);
  making.absent = absent_ranks(job, groups);
  making.no_hosts = seats.seats.empty();
  plan.hypothesis = defect.hypothesis;
  if (plan.hypothesis.kind != DefectKind::None) {
    plan.hypothesis.finding = suspicion.id;
    plan.hypothesis.title = suspicion.title;
  }
  return finish_plan(job, seats, making, options, std::move(plan));
}

}  // namespace ncclog
