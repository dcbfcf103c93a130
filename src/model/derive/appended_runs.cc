// Where was a further run of a program appended to its output?
//
//   one process writes      a failure behind which the output begins again, after 100 lines or a pause
//   a launcher ended it     the same, at once
//   two outputs             both begin again, or neither counts
//   Slurm ends job 71 and, at least ten lines below, job 74: a run begins behind the first word of it
//
// That lines come again is told by model/output_starts.h; here it is asked who else may have printed
// them. Several ranks that write one output print the same lines one after the other, too.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "log/messages.h"
#include "model/derive/split_runs.h"
#include "model/derive/steps.h"
#include "model/statements.h"

namespace ncclog {
namespace {

/// Lines of an input show a single process, and no launcher that may have others.
bool is_one_voice(const Job& job, const InputClock& clock) {
  std::set<int64_t> pids;
  for (const SpeakerLog& log : job.logs) {
    if (input_of(job, log.first) != clock.input) continue;
    // Of lines that mean nothing no label was read, so one label is enough.
    if (std::max({log.speaker.rank, log.task_rank, log.task_local_rank}) >= 0) return false;
    if (log.speaker.pid >= 0) pids.insert(log.speaker.pid);
    for (const uint16_t kind :
         {kKindIndex<ProcessEnded>, kKindIndex<ProcessExited>, kKindIndex<MpiAbort>}) {
      if (!log.records.kept(kind).empty()) return false;
    }
  }
  return pids.size() < 2;
}

/// A process of NCCL speaks before the place in an input, and behind it.
bool speaks_over(const Job& job, int64_t input, SourceRef place) {
  return std::ranges::any_of(job.logs, [&](const SpeakerLog& log) {
    return log.speaker.pid >= 0 && log.first < place && place <= log.last &&
           input_of(job, log.first) == input;
  });
}

/// Somebody keeps the output open over the place: a process of NCCL, an agent that starts its workers
/// anew, or agents of several hosts, whose outputs were joined.
bool goes_on_over(const Job& job, const InputClock& clock, SourceRef place) {
  if (speaks_over(job, clock.input, place)) return true;
  std::set<std::string> hosts;
  for (const SpeakerLog& log : job.logs) {
    if (input_of(job, log.first) != clock.input) continue;
    if (!log.records.kept(kKindIndex<WorkerGroupRestart>).empty()) return true;
    for (const Record& record : log.records.kept(kKindIndex<FailureHost>))
      hosts.emplace(read_message<FailureHost>(parse_message(record)).host);
  }
  return hosts.size() > 1;
}

/// Nothing was printed for some seconds before the place: several processes that start together come
/// closer after each other.
bool is_behind_pause(const InputClock& clock, SourceRef place) {
  constexpr int64_t kLeast = 10'000'000'000;
  const auto leads_to = [&](const Pause& pause) {
    return pause.before.where < place && place <= pause.after.where && pause.length() >= kLeast;
  };
  return std::ranges::any_of(clock.pulse.clock(false).all.pauses, leads_to) ||
         std::ranges::any_of(clock.pulse.clock(true).all.pauses, leads_to);
}

/// By input, where Slurm says that it ended a job, and which one.
using Cancellations = std::map<int64_t, std::map<SourceRef, std::string>>;

Cancellations cancellations(const Job& job) {
  Cancellations all;
  for (const SpeakerLog& log : job.logs) {
    for (const Record& record : log.records.kept(kKindIndex<JobCancelled>)) {
      const Message message = parse_message(record);
      const std::string_view number = slurm_job_number(read_message<JobCancelled>(message).job);
      if (!number.empty()) all[input_of(job, log.first)].emplace(record.where, number);
    }
  }
  return all;
}

/// Behind what Slurm says of one job's end, where it says further down that another one ended, and no
/// process of NCCL speaks on both sides: jobs may share an output while they run.
std::vector<SourceRef> job_changes(const Job& job, int64_t input, const Cancellations& all) {
  constexpr uint64_t kFewest = 10;  // Lines of a run; jobs that share an output end together.
  const auto cancelled = all.find(input);
  if (cancelled == all.end()) return {};
  std::vector<SourceRef> changes;
  const std::pair<const SourceRef, std::string>* before = nullptr;
  for (const auto& each : cancelled->second) {
    const bool is_other =
        before != nullptr && before->second != each.second &&
        (before->first.unit != each.first.unit || each.first.line - before->first.line > kFewest);
    const SourceRef place =
        before == nullptr ? each.first : SourceRef{before->first.unit, before->first.line + 1};
    if (is_other && !speaks_over(job, input, place)) changes.push_back(place);
    before = &each;
  }
  return changes;
}

/// `restarts` and `changes` in ascending order; of a run that both show, where it begins.
std::vector<SourceRef> joined_places(const Job& job, const std::vector<SourceRef>& restarts,
                                     std::vector<SourceRef> changes) {
  // What stands between is the batch script's.
  constexpr uint64_t kClose = 100;
  const std::vector<SourceRef> jobs = changes;
  for (const SourceRef place : restarts) {
    const bool is_known = std::ranges::any_of(jobs, [&](SourceRef change) {
      const uint64_t line = file_line(job, place).line;
      const uint64_t from = file_line(job, change).line;
      return from <= line && line < from + kClose;
    });
    if (!is_known) changes.push_back(place);
  }
  std::ranges::sort(changes);
  return changes;
}

/// Where further runs begin in an output. `has_own_output`: there is one for each rank.
std::vector<SourceRef> restarts_in(const Job& job, const InputClock& clock, bool has_own_output) {
  // Ranks that write one output print this much before one of them fails only if all have begun.
  constexpr uint64_t kLongRun = 100;
  std::vector<SourceRef> restarts = clock.starts.restarts(false);
  const std::vector<SourceRef> of_one_voice = clock.starts.restarts(true);
  const bool has_more = of_one_voice.size() > restarts.size();
  if (!has_more || !has_own_output || !is_one_voice(job, clock)) return restarts;
  uint64_t begun = 1;
  for (const SourceRef place : of_one_voice) {
    const uint64_t line = file_line(job, place).line;
    const bool is_known = std::ranges::find(restarts, place) != restarts.end();
    if (!is_known && line < begun + kLongRun && !is_behind_pause(clock, place)) continue;
    if (!is_known) restarts.push_back(place);
    begun = line;
  }
  std::ranges::sort(restarts);
  return restarts;
}

}  // namespace

RunParts appended_runs(const Job& job) {
  const auto is_output = [](const InputClock& clock) { return !clock.starts.is_empty(); };
  const auto outputs = std::ranges::count_if(job.clocks, is_output);
  const Cancellations cancelled = cancellations(job);
  std::vector<std::vector<SourceRef>> restarts(job.inputs.size());
  size_t fewest = RunParts::kMaxRuns - 1;
  size_t most = 0;
  for (const InputClock& clock : job.clocks) {
    if (!is_output(clock)) continue;
    std::vector<SourceRef>& own = restarts[clock.input];
    const std::vector<SourceRef> changes = job_changes(job, clock.input, cancelled);
    own = restarts_in(job, clock, told_nranks(job) <= outputs);
    const auto is_inside = [&](SourceRef place) { return goes_on_over(job, clock, place); };
    if (std::ranges::any_of(own, is_inside)) own.clear();
    if (own.empty() && changes.empty()) return {};
    own = joined_places(job, own, changes);
    fewest = std::min(fewest, own.size());
    most = std::max(most, own.size());
    // What failed before the last run does not matter where that did what it was started for.
    const bool ends_well = !own.empty() && own.back() < clock.starts.finished();
    if (ends_well) return {};
  }
  if (outputs == 0) return {};
  RunParts parts{.are_appended = true, .earlier = most - fewest};
  parts.by_input.resize(job.inputs.size());
  parts.runs.resize(fewest + 1);
  for (size_t i = 0; i < restarts.size(); ++i) {
    if (restarts[i].empty()) continue;
    parts.by_input[i].push_back({{}, 0});
    for (size_t r = restarts[i].size() - fewest; r < restarts[i].size(); ++r)
      parts.by_input[i].push_back({restarts[i][r], static_cast<int>(parts.by_input[i].size())});
  }
  for (size_t r = 0; r < parts.runs.size(); ++r) {
    const size_t number = r + 1 + parts.earlier;
    parts.runs[r].name = r == 0 && parts.earlier > 0 ? fmt::format("runs 1-{}", number)
                                                     : fmt::format("run {}", number);
  }
  return parts;
}

}  // namespace ncclog
