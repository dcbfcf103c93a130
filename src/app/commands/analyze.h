// From what the user named to a report: the whole analysis, start to end; where reports go.
//
//   ncclog analyze logs/ --md report.md
//   inputs → units → Job → facts and rules → findings, verdict → Report
//   → text on standard output, ReportOutput{markdown, "report.md"} in a file
//
// ncclog explain RULE PATH… asks one rule only.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"
#include "app/read/read_job.h"
#include "model/job.h"
#include "report/report.h"
#include "report/template_report.h"
#include "rules/rule.h"

namespace ncclog {

/// A report in one format, and where it goes.
struct ReportOutput {
  const ReportKind* kind = nullptr;  ///< Never nullptr.
  std::string path;                  ///< "-": standard output.
};

struct AnalyzeOptions {
  InputOptions input;
  std::vector<std::string> rules;       ///< Files and folders that add to the built-in rules.
  std::string expect;                   ///< Profile's name or path; empty: none.
  std::vector<std::string> with_hosts;  ///< Reports of hosts; may be empty.
  std::string with_replay;              ///< A result of `replay run`; empty: none.
  const ReportKind* format = find_report_kind("text");  ///< nullptr: nothing is printed.
  std::optional<ReportTemplate> by_template;            ///< Instead of the format.
  std::vector<ReportOutput> outputs;                    ///< Besides; in the formats' order.
  std::string requests;           ///< File for what a merge of parts asks; empty: none.
  std::optional<FailOn> fail_on;  ///< nullopt: error.
  ColorChoice color = ColorChoice::Auto;
};

/// A flag for each format, which names the file that it is written to.
void add_output_flags(CommandRow& command, std::vector<ReportOutput>& outputs);

/// What analyze and cluster take.
void add_judging_flags(CommandRow& command, AnalyzeOptions& options);

/// Parsing fills `options`, which must outlive the row.
void add_analyze_flags(CommandRow& command, AnalyzeOptions& options);

/// Today, UTC: overlays end by it. SOURCE_DATE_EPOCH, where it is a number of seconds after 1970,
/// goes before the system's clock, so that a run can be repeated to the byte.
std::string today();

/// The files that the options name, in the order in which they are read. Throws Error if there are
/// none. `skipped`: as find_inputs fills it.
std::vector<std::string> wanted_inputs(const InputOptions& options,
                                       std::vector<std::string>* skipped = nullptr);

/// Finds and reads the inputs, and tells `progress` of it; `read` gets what is needed to read lines
/// again. Throws Error if there are none.
Job load_job(const InputOptions& options, ReadingProgress* progress = nullptr,
             LineMatcher matcher = {}, ReadUnits* read = nullptr);

/// A report with what it was made from, so that single lines can be read again.
struct AnalyzedLogs {
  ReadUnits read;
  Rulebook rulebook;  ///< Here so that it is kept with the rest: see Console::keep().
  Report report;
};

/// Judges report.job by the rules, and by report.profile if there is one.
void judge_job(Report& report, const Rulebook& rulebook);

/// As run_pipeline, without the texts of lines that are known by their places only.
AnalyzedLogs analyze_logs(const AnalyzeOptions& options, ReadingProgress* progress = nullptr);

/// Finds and reads the inputs, judges them by the built-in rules and `options.rules`. Throws Error
/// if an input does not exist or a rule is invalid.
AnalyzedLogs run_pipeline(const AnalyzeOptions& options, ReadingProgress* progress = nullptr);

/// Writes what a merge asks, for `scan --answer`.
void write_requests(const Requests& asked, const AnalyzeOptions& options, const std::string& path);

/// Prints the report and writes what the options name; how the run ends.
ExitStatus write_analysis(const AnalyzedLogs& logs, const AnalyzeOptions& options,
                          Console& console);

/// Throws Error if one of them cannot be written, would be written over one of `inputs`, or two
/// would go to the same place, or over the replay's result that is joined. `prints` says that the
/// run prints something else already; `replay` is the result's path, empty for none.
void check_outputs(std::span<const ReportOutput> outputs, std::span<const std::string> inputs,
                   bool prints, const std::string& replay);

/// The verdict in a line, whether it rests on all of the input, and what a replay came to.
std::string verdict_line(const Report& report, const TextStyle& style);

/// Writes the report to each of them, and on standard error which files were written.
void write_reports(const Report& report, std::span<const ReportOutput> outputs, Console& console);

}  // namespace ncclog
