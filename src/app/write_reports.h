// Where a run's reports go: standard output, and files that flags name.
//
//   ncclog report logs/ --md report.md --json report.json
//   → ReportOutput{markdown, "report.md"}, ReportOutput{json, "report.json"}

#pragma once

#include <span>
#include <string>

#include "app/console.h"
#include "app/options.h"
#include "report/report.h"

namespace ncclog {

/// Throws Error if one of them cannot be written, would be written over one of `inputs`, or two
/// would go to the same place. `prints` says that the run prints something else already.
void check_outputs(std::span<const ReportOutput> outputs, std::span<const std::string> inputs,
                   bool prints);

/// Throws Error if one of them would be written over the replay's result that is joined; `result`
/// is its path, empty for none.
void check_replay_is_kept(std::span<const ReportOutput> outputs, const std::string& result);

/// Writes the report to each of them, and on standard error which files were written.
void write_reports(const Report& report, std::span<const ReportOutput> outputs, Console& console);

}  // namespace ncclog
