// ncclog diff GOOD BAD

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/read_again.h"
#include "base/error.h"
#include "report/difference/difference_report.h"

namespace ncclog {
namespace {

/// One of the two runs, judged, and kept until the process ends: taking a job of thousands of
/// processes apart takes about as long as judging it.
const AnalyzedLogs& keep(const DiffOptions& options, const std::string& path) {
  static auto& kept = *new std::deque<AnalyzedLogs>;
  AnalyzeOptions one;
  one.input = {.paths = {path}, .threads = options.input.threads};
  one.rules = options.rules;
  return kept.emplace_back(analyze_logs(one));
}

/// Reads the lines that stand beside the rows and are known by their places only.
void fill(const AnalyzedLogs& logs, RunDifference& difference,
          DifferenceSide DifferenceRow::*side) {
  std::vector<Evidence*> lines;
  for (DifferenceRow& row : difference.rows) {
    for (Evidence& line : (row.*side).evidence) lines.push_back(&line);
  }
  fill_lines(logs.inputs, logs.units, lines);
}

std::string written(const DifferenceReport& report, const DiffOptions& options,
                    const Console& console) {
  switch (options.format) {
    case DiffFormat::Json:
      return write_difference_json(report);
    case DiffFormat::Markdown:
      return write_difference_markdown(report);
    case DiffFormat::Text:
      break;
  }
  return write_difference_text(report, console.style(options.color));
}

ExitStatus status_after(const DifferenceReport& report, const DiffOptions& options) {
  const bool differs = status_of(report.difference) == DifferenceStatus::Different;
  if (options.exit_code && differs) return ExitStatus::Findings;
  const ExitStatus good = exit_status(report.good.job);
  return good == ExitStatus::Fine ? exit_status(report.bad.job) : good;
}

ExitStatus diff(const DiffOptions& options, Console& console) {
  const std::vector<std::string>& paths = options.input.paths;
  if (paths.size() != 2) {
    throw Error("two runs are needed", "diff",
                "ncclog diff GOOD BAD: give a file, a folder or an archive for each");
  }
  const AnalyzedLogs& good = keep(options, paths[0]);
  const AnalyzedLogs& bad = keep(options, paths[1]);
  DifferenceReport report{paths[0], paths[1], good.report, bad.report,
                          difference_of(good.report, bad.report)};
  fill(good, report.difference, &DifferenceRow::good);
  fill(bad, report.difference, &DifferenceRow::bad);
  console.out += written(report, options, console);
  return status_after(report, options);
}

}  // namespace

RunCommand declare_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  add_diff_flags(app, *options);
  return [options](Console& console) { return diff(*options, console); };
}

}  // namespace ncclog
