// From what the user named to a report: the whole analysis, start to end.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options.h"
#include "input/units.h"
#include "model/job.h"
#include "report/report.h"
#include "rules/rule.h"

namespace ncclog {

/// The files that the options name, in the order in which they are read. Throws Error if there are
/// none.
std::vector<std::string> wanted_inputs(const InputOptions& options);

/// Finds and reads the inputs. Throws Error if there are none.
Job load_job(const InputOptions& options);

/// A report with what it was made from, so that single lines can be read again.
struct AnalyzedLogs {
  std::vector<std::string> inputs;
  std::vector<Unit> units;
  Report report;
};

/// As run_pipeline, without the texts of lines that are known by their places only.
AnalyzedLogs analyze_logs(const AnalyzeOptions& options);

/// Finds and reads the inputs, judges them by the built-in rules and `options.rules`. Throws Error
/// if an input does not exist or a rule is invalid.
Report run_pipeline(const AnalyzeOptions& options);

/// The same, kept until the process ends.
const Report& kept_report(const AnalyzeOptions& options);

/// Judges a log held in memory, as if it were a file called "log.txt".
Report report_on_text(std::string_view text, const Rulebook& rulebook);

}  // namespace ncclog
