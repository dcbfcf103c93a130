// ncclog analyze PATH…

#include <CLI/CLI.hpp>
#include <deque>
#include <memory>
#include <utility>

#include "app/analyze.h"
#include "app/commands.h"
#include "report/write_json.h"
#include "report/write_text.h"

namespace ncclog {
namespace {

/// Keeps the report until the process ends. To take a job of thousands of processes apart, line by
/// line, would take about as long as to judge it; the system takes the memory back at once.
const Report& keep(Report&& report) {
  static auto& kept = *new std::deque<Report>;
  return kept.emplace_back(std::move(report));
}

ExitStatus analyze(const AnalyzeOptions& options, Console& console) {
  const Report& report = keep(run_pipeline(options));
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
