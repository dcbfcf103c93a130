// ncclog count PATH…

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/print_table.h"
#include "app/read_job.h"
#include "base/error.h"
#include "base/text.h"
#include "report/tables/count_table.h"

namespace ncclog {
namespace {

/// Up to so many communicators have rows of their own, unless the user asks for more.
constexpr size_t kCommsShown = 12;

IterationChoice choice_of(const CountOptions& options) {
  IterationChoice choice{.exact = options.cut == IterationCut::Exact};
  if (options.iteration == "period") {
    choice.by = IterationChoice::By::Period;
  } else if (is_iteration_preset(options.iteration)) {
    choice.by = IterationChoice::By::Preset;
    choice.preset = options.iteration;
  } else if (options.iteration != "auto") {
    choice.by = IterationChoice::By::Expression;
  }
  return choice;
}

/// A single word is as good an expression as any, but a misspelt preset is likelier.
void refuse_misspelt(const std::string& word) {
  if (is_iteration_preset(word) || !std::all_of(word.begin(), word.end(), is_alpha)) return;
  std::vector<std::string_view> names = {"auto", "period"};
  for (const IterationWording& wording : iteration_wordings()) names.push_back(wording.preset);
  const auto nearest = nearest_name(word, names);
  if (!nearest) return;
  throw Error(fmt::format("unknown preset '{}'", word), "--iteration",
              fmt::format("did you mean '{}'? As an expression: '({})'", *nearest, word));
}

MarkerFinder finder_for(const CountOptions& options) {
  if (options.iteration == "auto" || options.iteration == "period") return MarkerFinder();
  refuse_misspelt(options.iteration);
  return MarkerFinder(options.iteration);
}

std::vector<CountBy> dimensions(const CountOptions& options, const Job& job) {
  if (!options.by.empty()) return options.by;
  const bool few = job.communicators.size() <= kCommsShown;
  return {few ? CountBy::Comm : CountBy::CommSize, CountBy::Op};
}

ExitStatus count(const CountOptions& options, Console& console) {
  const MarkerFinder finder = finder_for(options);
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  const Job job = read_job(inputs, {.threads = options.input.threads, .finder = finder});
  const JobCalls calls = job_calls(job);
  const auto iterations = find_iterations(job, calls, choice_of(options));
  const JobIterations* const found = iterations ? &*iterations : nullptr;
  const std::vector<CountBy> by = dimensions(options, job);
  if (options.format == TableFormat::Text) {
    print_table(count_table(job, calls, found, by), options.format, options.color, console);
  } else {
    print_stream(count_stream(job, calls, found, by), options.format, console);
  }
  return exit_status(job);
}

}  // namespace

RunCommand declare_count(CLI::App& app) {
  const auto options = std::make_shared<CountOptions>();
  add_count_flags(app, *options);
  return [options](Console& console) { return count(*options, console); };
}

}  // namespace ncclog
