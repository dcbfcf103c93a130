// ncclog report PATH… --md FILE --json FILE

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/write_reports.h"

namespace ncclog {
namespace {

/// What the user asked for; Markdown on standard output unless something else was.
std::vector<ReportOutput> wanted_outputs(const ReportOptions& options) {
  if (!options.analyze.outputs.empty()) return options.analyze.outputs;
  return {{find_report_kind("markdown"), std::string(kStandardOutput)}};
}

ExitStatus report(const ReportOptions& options, Console& console) {
  const std::vector<ReportOutput> outputs = wanted_outputs(options);
  check_outputs(outputs, wanted_inputs(options.analyze.input), /*prints=*/false);
  const Report& report = kept_report(options.analyze);
  write_reports(report, outputs, console);
  return exit_status(report, options.analyze.fail_on);
}

}  // namespace

RunCommand declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  add_report_flags(app, *options);
  return [options](Console& console) { return report(*options, console); };
}

}  // namespace ncclog
