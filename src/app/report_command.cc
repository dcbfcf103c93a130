// ncclog report PATH… --md FILE --json FILE --bundle FILE

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/bundle.h"
#include "app/commands.h"
#include "app/output_file.h"
#include "app/write_reports.h"

namespace ncclog {
namespace {

/// The reports that the user asked for; Markdown on standard output if there is nothing else.
std::vector<ReportOutput> wanted_outputs(const ReportOptions& options) {
  if (!options.analyze.outputs.empty() || !options.bundle.path.empty()) {
    return options.analyze.outputs;
  }
  return {{find_report_kind("markdown"), std::string(kStandardOutput)}};
}

ExitStatus report(const ReportOptions& options, Console& console) {
  const std::vector<ReportOutput> outputs = wanted_outputs(options);
  const std::vector<std::string> inputs = wanted_inputs(options.analyze.input);
  check_outputs(outputs, inputs, /*prints=*/false);
  check_replay_is_kept(outputs, options.analyze.with_replay);
  if (!options.bundle.path.empty()) check_bundle(options.bundle, options.analyze, inputs);
  const Report& report = kept_report(options.analyze);
  write_reports(report, outputs, console);
  if (!options.bundle.path.empty()) {
    console.err +=
        bundle_text(options.bundle, write_bundle(report, options.analyze, options.bundle));
  }
  return exit_status(report, options.analyze.fail_on);
}

}  // namespace

RunCommand declare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  add_report_flags(app, *options);
  return [options](Console& console) { return report(*options, console); };
}

}  // namespace ncclog
