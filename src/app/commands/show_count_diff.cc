// A closer look at a job: its tables and drawings, its calls, what differs from another job.
//
//   ncclog show TABLE PATH…
//   ncclog count PATH…
//   ncclog diff GOOD BAD

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/commands/analyze.h"
#include "app/options.h"
#include "app/read/read_job.h"
#include "base/error.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "report/difference/difference_report.h"
#include "report/graph/graph.h"
#include "report/html/graph_svg.h"
#include "report/tables/count_table.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

// ncclog show TABLE PATH…

/// A file that nobody reads from top to bottom may hold more than a page.
constexpr size_t kMaxGraphs = 64;

bool is_drawing(ShowFormat format) {
  return format == ShowFormat::Svg || format == ShowFormat::Dot;
}

TableFormat table_format(ShowFormat format) {
  if (format == ShowFormat::Json) return TableFormat::Json;
  return format == ShowFormat::Csv ? TableFormat::Csv : TableFormat::Text;
}

ExitStatus draw(const ShowOptions& options, Console& console) {
  const DrawingKind& kind = chosen_drawing(options.what, "show");
  const Job job = load_job(options.input);
  const Drawing drawing = kind.build(job, kMaxGraphs);
  console.out += options.format == ShowFormat::Svg ? write_svg(drawing) : write_dot(drawing);
  return exit_status(job);
}

/// The shapes of unknown lines as kinds of a message file, the most frequent first.
std::string draft_of(const Job& job) {
  using Shape = std::pair<const std::string, UnknownLines>;
  std::vector<const Shape*> shapes;
  for (const Shape& shape : job.unknown.shapes) shapes.push_back(&shape);
  std::ranges::stable_sort(shapes, std::greater(), [](auto shape) { return shape->second.count; });
  std::vector<UnknownMessage> messages;
  for (const Shape* shape : shapes) {
    const UnknownLines& lines = shape->second;
    const Header header = parse_header(lines.example);
    const FileLine place = file_line(job, lines.first);
    const bool is_nccl = header.level != Level::None && header.level != Level::Framework;
    messages.push_back({header.message, is_nccl, header.level == Level::Warn,
                        fmt::format("Seen {}, first at {}:{}.", plural(lines.count, "time"),
                                    place.path, place.line)});
  }
  return proposed_messages(messages);
}

/// Lines that nothing fits, as the user of a new release would begin to explain them.
ExitStatus propose(const ShowOptions& options, Console& console) {
  if (options.as != "messages")
    throw Error("unknown value '" + printable(options.as) + "' of --as", "show", "use 'messages'");
  if (options.what != "unknown")
    throw Error("--as messages is of the table 'unknown'", "show",
                "type 'ncclog show unknown PATH --as messages'");
  const Job job = load_job(options.input);
  console.out += draft_of(job);
  return exit_status(job);
}

ExitStatus show(const ShowOptions& options, Console& console) {
  if (!options.as.empty()) return propose(options, console);
  if (is_drawing(options.format)) return draw(options, console);
  const TableKind& kind = chosen_table(options.what, "show");
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  print_table(table, table_format(options.format), options.color, console);
  return exit_status(job);
}

}  // namespace

RunCommand declare_show(CLI::App& app) {
  const auto options = std::make_shared<ShowOptions>();
  add_show_flags(app, *options);
  app.footer(table_list);  // Stands above the examples.
  return [options](Console& console) { return show(*options, console); };
}

namespace {

// ncclog count PATH…

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

namespace {

// ncclog diff GOOD BAD

/// One of the two runs, judged, and kept until the process ends: taking a job of thousands of
/// processes apart takes about as long as judging it.
const AnalyzedLogs& keep(const DiffOptions& options, const std::string& path) {
  static auto& kept = *new std::deque<AnalyzedLogs>;
  AnalyzeOptions one;
  one.input = {.paths = {path}, .threads = options.input.threads};
  one.rules = options.rules;
  return kept.emplace_back(analyze_logs(one));
}

/// Reads the lines that stand beside the rows and are known by their places only.
void fill(const AnalyzedLogs& logs, RunDifference& difference,
          DifferenceSide DifferenceRow::*side) {
  std::vector<Evidence*> lines;
  for (DifferenceRow& row : difference.rows) {
    for (Evidence& line : (row.*side).evidence) lines.push_back(&line);
  }
  fill_lines(logs.inputs, logs.units, lines);
}

std::string written(const DifferenceReport& report, const DiffOptions& options,
                    const Console& console) {
  switch (options.format) {
    case DiffFormat::Json:
      return write_difference_json(report);
    case DiffFormat::Markdown:
      return write_difference_markdown(report);
    case DiffFormat::Text:
      break;
  }
  return write_difference_text(report, console.style(options.color));
}

ExitStatus status_after(const DifferenceReport& report, const DiffOptions& options) {
  const bool differs = status_of(report.difference) == DifferenceStatus::Different;
  if (options.exit_code && differs) return ExitStatus::Findings;
  const ExitStatus good = exit_status(report.good.job);
  return good == ExitStatus::Fine ? exit_status(report.bad.job) : good;
}

ExitStatus diff(const DiffOptions& options, Console& console) {
  const std::vector<std::string>& paths = options.input.paths;
  if (paths.size() != 2) {
    throw Error("two runs are needed", "diff",
                "ncclog diff GOOD BAD: give a file, a folder or an archive for each");
  }
  const AnalyzedLogs& good = keep(options, paths[0]);
  const AnalyzedLogs& bad = keep(options, paths[1]);
  DifferenceReport report{paths[0], paths[1], good.report, bad.report,
                          difference_of(good.report, bad.report)};
  fill(good, report.difference, &DifferenceRow::good);
  fill(bad, report.difference, &DifferenceRow::bad);
  console.out += written(report, options, console);
  return status_after(report, options);
}

}  // namespace

RunCommand declare_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  add_diff_flags(app, *options);
  return [options](Console& console) { return diff(*options, console); };
}

}  // namespace ncclog
