// ncclog analyze PATH…

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "report/write_json.h"
#include "report/write_text.h"

namespace ncclog {
namespace {

ExitStatus analyze(const AnalyzeOptions& options, Console& console) {
  const Report report = run_pipeline(options);
  switch (options.format) {
    case ReportFormat::Text:
      console.out += write_text(report, console.style(options.color));
      break;
    case ReportFormat::Json:
      console.out += write_json(report);
      break;
  }
  return exit_status(report, options.fail_on);
}

}  // namespace

RunCommand declare_analyze(CLI::App& app) {
  const auto options = std::make_shared<AnalyzeOptions>();
  add_analyze_flags(app, *options);
  return [options](Console& console) { return analyze(*options, console); };
}

}  // namespace ncclog
