#include "app/analyze.h"

#include <deque>
#include <optional>
#include <utility>

#include "app/join_replay.h"
#include "app/read_again.h"
#include "app/read_job.h"
#include "app/today.h"
#include "base/error.h"
#include "base/version.h"
#include "input/find_inputs.h"
#include "model/job_from_text.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "rules/profile.h"

namespace ncclog {
namespace {

Report judge(Job&& job, const Rulebook& rulebook, const Profile* profile = nullptr) {
  Report report;
  report.tool.version = version();
  report.tool.rulebook = rulebook.hash;
  std::vector<Finding> further;
  if (profile != nullptr) {
    report.profile = check_profile(*profile, job);
    if (auto finding = profile_finding(*report.profile, job))
      further.push_back(std::move(*finding));
  }
  report.diagnosis = evaluate(rulebook, job, std::move(further));
  report.job = std::move(job);
  return report;
}

}  // namespace

std::vector<std::string> wanted_inputs(const InputOptions& options) {
  if (options.paths.empty()) {
    throw Error("no logs named", "", "give files or folders, or '-' to read standard input");
  }
  return find_inputs(options.paths);
}

Job load_job(const InputOptions& options) {
  Job job = read_job(wanted_inputs(options), {.threads = options.threads});
  job.stated = options.stated;
  return job;
}

AnalyzedLogs analyze_logs(const AnalyzeOptions& options) {
  std::optional<Profile> profile;
  if (!options.expect.empty()) profile = find_profile(options.expect);
  std::optional<ReplayResult> replay;
  if (!options.with_replay.empty()) replay = load_replay_result(options.with_replay);
  const Rulebook rulebook = load_rulebook(options.rules, today());
  AnalyzedLogs logs{.inputs = wanted_inputs(options.input)};
  ReadJob read = read_job_with_units(
      logs.inputs, {.threads = options.input.threads, .matcher = make_line_matcher(rulebook)});
  logs.units = std::move(read.units);
  read.job.stated = options.input.stated;
  logs.report = judge(std::move(read.job), rulebook, profile ? &*profile : nullptr);
  if (replay) logs.report.replay = join_replay(logs.report, *replay, options.with_replay);
  return logs;
}

Report run_pipeline(const AnalyzeOptions& options) {
  AnalyzedLogs logs = analyze_logs(options);
  show_messages(logs.report.job, logs.inputs, logs.units, logs.report.diagnosis.findings);
  fill_evidence(logs.inputs, logs.units, logs.report.diagnosis.findings);
  return std::move(logs.report);
}

const Report& kept_report(const AnalyzeOptions& options) {
  // To take a job of thousands of processes apart, line by line, would take about as long as to
  // judge it; the system takes the memory back at once.
  static auto& kept = *new std::deque<Report>;
  return kept.emplace_back(run_pipeline(options));
}

Report report_on_text(std::string_view text, const Rulebook& rulebook) {
  return judge(job_from_text(text, make_line_matcher(rulebook)), rulebook);
}

}  // namespace ncclog
