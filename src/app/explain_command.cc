// ncclog explain RULE PATH…

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/read_job.h"
#include "app/today.h"
#include "base/error.h"
#include "report/text/write_explanation.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "rules/rule_tools.h"

namespace ncclog {
namespace {

ExitStatus explain_rule(const ExplainOptions& options, Console& console) {
  if (options.id.empty()) throw Error("no rule named", "explain", "see 'ncclog rules list'");
  const Rulebook rulebook = load_rulebook(options.rules, today());
  required_rule(rulebook, options.id);  // A misspelt id is not worth reading logs for.
  Job job = read_job(wanted_inputs(options.input),
                     {.threads = options.input.threads, .matcher = make_line_matcher(rulebook)});
  job.stated = options.input.stated;
  const Explanation explanation = explain(rulebook, job, options.id);
  console.out += options.format == ReportFormat::Json
                     ? write_explanation_json(explanation, job)
                     : write_explanation(explanation, job, console.style(options.color));
  return exit_status(job);
}

}  // namespace

RunCommand declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  add_explain_flags(app, *options);
  return [options](Console& console) { return explain_rule(*options, console); };
}

}  // namespace ncclog
