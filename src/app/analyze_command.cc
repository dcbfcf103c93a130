// ncclog analyze PATH…

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/write_reports.h"
#include "base/text.h"
#include "report/verdict_and_evidence.h"
#include "report/report_formats.h"

namespace ncclog {
namespace {

/// The verdict, whether it rests on all of the input, and what a replay came to.
std::string verdict_line(const Report& report, const TextStyle& style) {
  std::string line = write_verdict(report, style);
  line.pop_back();
  if (exit_status(report, FailOn::Never) == ExitStatus::Partial) {
    line += " Part of the input was unreadable or cut.";
  }
  if (report.replay) line += " " + printable(replay_sentence(*report.replay));
  return line + "\n";
}

ExitStatus analyze(const AnalyzeOptions& options, Console& console) {
  if (!options.outputs.empty()) {
    check_outputs(options.outputs, wanted_inputs(options.input), /*prints=*/true);
    check_replay_is_kept(options.outputs, options.with_replay);
  }
  const Report& report = kept_report(options);
  const TextStyle style = console.style(options.color);
  const bool is_for_people = options.format->name == "text";
  console.out += console.quiet && is_for_people ? verdict_line(report, style)
                                                : options.format->write(report, style);
  write_reports(report, options.outputs, console);
  return exit_status(report, options.fail_on);
}

}  // namespace

RunCommand declare_analyze(CLI::App& app) {
  const auto options = std::make_shared<AnalyzeOptions>();
  add_analyze_flags(app, *options);
  return [options](Console& console) { return analyze(*options, console); };
}

}  // namespace ncclog
