// A closer look at a job: its tables and drawings, its calls, what differs from another job.
//
//   ncclog show TABLE PATH…
//   ncclog count PATH…
//   ncclog diff GOOD BAD

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/read/read_job.h"
#include "base/error.h"
#include "base/text.h"
#include "log/iteration_marker.h"
#include "log/known_messages.h"
#include "log/line/header.h"
#include "report/difference/difference_report.h"
#include "report/difference/groups_report.h"
#include "report/document/document.h"
#include "report/graph/graph.h"
#include "report/html/figures.h"
#include "report/tables/tables.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

// ncclog show TABLE PATH…

struct ShowOptions {
  std::string what;  ///< Name of a table; empty: a mistake.
  InputOptions input;
  /// nullopt: the drawing of the table's name instead.
  std::optional<TableFormat> format = TableFormat::Text;
  bool as_messages = false;  ///< The unknown lines as a draft of a message file.
  ColorChoice color = ColorChoice::Auto;
};

/// A file that nobody reads from top to bottom may hold more than a page.
constexpr size_t kMaxGraphs = 64;

ExitStatus draw(const ShowOptions& options, Console& console) {
  DrawGraphs* const draw_graphs = find_drawing(options.what);
  if (draw_graphs == nullptr) {
    throw Error(
        fmt::format("no drawing of '{}'", printable(options.what)), "show",
        "there is one of channels and of topology; other tables come as text, json and csv");
  }
  const Job job = load_job(options.input, console.progress);
  console.out += write_svg(draw_graphs(job, kMaxGraphs));
  return exit_status(job);
}

/// Lines that nothing fits, as the user of a new release would begin to explain them.
ExitStatus propose(const ShowOptions& options, Console& console) {
  if (options.what != "unknown")
    throw Error("--as messages is of the table 'unknown'", "show",
                "type 'ncclog show unknown PATH --as messages'");
  const Job job = load_job(options.input, console.progress);
  // Their shapes as kinds of a message file, the most frequent first.
  std::vector<UnknownMessage> messages;
  for (const auto* shape : most_frequent_first(job.unknown)) {
    const UnknownLines& lines = shape->second;
    const Header header = parse_header(lines.example);
    const FileLine place = file_line(job, lines.first);
    messages.push_back({header.message, is_nccl(header), header.level == Level::Warn,
                        fmt::format("Seen {}, first at {}:{}.", plural(lines.count, "time"),
                                    place.path, place.line)});
  }
  console.out += proposed_messages(messages);
  return exit_status(job);
}

ExitStatus show(const ShowOptions& options, Console& console) {
  if (options.as_messages) return propose(options, console);
  if (!options.format) return draw(options, console);
  const TableKind& kind = chosen_table(options.what, "show");
  const Job job = load_job(options.input, console.progress);
  print_table(kind.build(job), *options.format, options.color, console);
  return exit_status(job);
}

}  // namespace

void declare_show(CommandRow& command) {
  ShowOptions& options = options_of(command, show);
  add_argument(command, "TABLE", options.what, "which table");
  add_input_flags(command, options.input);
  add_choice(
      command, kOutputFlags, "--format", options.format,
      std::vector<Choice<std::optional<TableFormat>>>{{"text", TableFormat::Text},
                                                      {"json", TableFormat::Json},
                                                      {"csv", TableFormat::Csv},
                                                      {"svg", std::nullopt}},
      "text for people, json or csv for scripts; svg draws channels and topology for a browser");
  add_choice(command, kOutputFlags, "--as", options.as_messages,
             std::vector<Choice<bool>>{{"messages", true}},
             "messages: unknown lines as a draft of a message file");
  add_color_flag(command, options.color);
  command.notes = list_of(table_kinds(), "Tables:", &TableKind::name,
                          &TableKind::help);  // Stands above the examples.
}

namespace {

// ncclog count PATH…

constexpr Choice<CountBy> kCountBy[] = {{"op", CountBy::Op},
                                        {"size", CountBy::Size},
                                        {"comm", CountBy::Comm},
                                        {"rank", CountBy::Rank},
                                        {"host", CountBy::Host},
                                        {"iteration", CountBy::Iteration},
                                        {"step-pattern", CountBy::StepPattern}};

struct CountOptions {
  InputOptions input;
  std::vector<CountBy> by;         ///< Empty: by communicator and operation.
  std::string iteration = "auto";  ///< "auto", "period", a preset or an expression.
  bool exact = false;              ///< Cut at the marker; else aligned to each process's calls.
  TableFormat format = TableFormat::Text;
  ColorChoice color = ColorChoice::Auto;
};

/// Up to so many communicators have rows of their own, unless the user asks for more.
constexpr size_t kCommsShown = 12;

IterationChoice choice_of(const CountOptions& options) {
  IterationChoice choice{.exact = options.exact};
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
  if (is_iteration_preset(word) || !std::ranges::all_of(word, is_alpha)) return;
  std::vector<std::string_view> names = {"auto", "period"};
  for (const IterationWording& wording : iteration_wordings()) names.push_back(wording.preset);
  const auto nearest = nearest_name(word, names);
  if (!nearest) return;
  throw Error(fmt::format("unknown preset '{}'", word), "--iteration",
              fmt::format("did you mean '{}'? As an expression: '({})'", *nearest, word));
}

ExitStatus count(const CountOptions& options, Console& console) {
  MarkerFinder finder;
  if (options.iteration != "auto" && options.iteration != "period") {
    refuse_misspelt(options.iteration);
    finder = MarkerFinder(options.iteration);
  }
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  const Job job = read_job(
      inputs, {.threads = options.input.threads, .finder = finder, .progress = console.progress});
  const JobCalls calls = job_calls(job);
  const auto iterations = find_iterations(job, calls, choice_of(options));
  const JobIterations* const found = iterations ? &*iterations : nullptr;
  std::vector<CountBy> by = options.by;
  if (by.empty()) {
    const bool few = job.communicators.size() <= kCommsShown;
    by = {few ? CountBy::Comm : CountBy::CommSize, CountBy::Op};
  }
  if (console.quiet && options.format == TableFormat::Text) {
    console.out += count_sentence(job, calls) + "\n";
    return exit_status(job);
  }
  const bool may_fold = options.format == TableFormat::Text;
  Table table = count_table(job, calls, found, by, may_fold);
  const bool is_asked = options.iteration != "auto" && options.iteration != "period";
  if (is_asked && (found == nullptr || found->source == "period")) {
    table.notes.insert(
        table.notes.begin(),
        fmt::format("No line is a marker as --iteration {} asks for{}.", options.iteration,
                    found == nullptr ? "" : "; the calls that repeat are used"));
  }
  print_table(std::move(table), options.format, options.color, console);
  return exit_status(job);
}

/// "rank,op", each once.
std::vector<CountBy> parse_dimensions(const std::string& words) {
  std::vector<CountBy> by;
  for (const std::string_view word : split(words, ',')) {
    const CountBy one =
        kCountBy[place_of_choice(words_of(kCountBy), "--by", std::string(word))].value;
    if (std::ranges::find(by, one) == by.end()) by.push_back(one);
  }
  return by;
}

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> presets;
  for (const IterationWording& wording : iteration_wordings()) {
    const bool known = std::ranges::find(presets, wording.preset) != presets.end();
    if (!known) presets.push_back(wording.preset);
  }
  return presets;
}

}  // namespace

void declare_count(CommandRow& command) {
  CountOptions& options = options_of(command, count);
  add_input_flags(command, options.input);
  add_flag_by(
      command, kCountingFlags, fmt::format("--by {}", fmt::join(words_of(kCountBy), ",")),
      [&by = options.by](const std::string& words) { by = parse_dimensions(words); },
      "what to tell apart: one of these or several, with commas between (default: comm,op)");
  add_flag(command, kCountingFlags, "--iteration WHAT", options.iteration,
           fmt::format("what begins an iteration: auto (default), period, an RE2 expression "
                       "whose group 1 is the step, or one of {}",
                       fmt::join(preset_names(), ", ")));
  add_choice(command, kCountingFlags, "--cut", options.exact, in_order<bool>({"aligned", "exact"}),
             "aligned (default) to each process's calls, or exact at the marker");
  add_choice(command, kOutputFlags, "--format", options.format,
             in_order<TableFormat>({"text", "json", "csv"}),
             "text for people, json or csv for scripts");
  add_color_flag(command, options.color);
}

namespace {

// ncclog diff GOOD BAD, and ncclog diff GOOD… --bad BAD…

/// How two runs, and how several good ones and bad ones, are written.
struct WriteDiff {
  std::string (*two)(const DifferenceReport& report, const TextStyle& style);
  std::string (*groups)(const GroupsReport& report, const TextStyle& style);

  bool operator==(const WriteDiff&) const = default;
};

constexpr WriteDiff kDiffAsText{[](const DifferenceReport& report, const TextStyle& style) {
                                  return render_text(difference_document(report), style);
                                },
                                [](const GroupsReport& report, const TextStyle& style) {
                                  return render_text(groups_document(report), style);
                                }};

constexpr Choice<WriteDiff> kDiffFormats[] = {
    {"text", kDiffAsText},
    {"json",
     {[](const DifferenceReport& report, const TextStyle&) {
        return write_difference_json(report);
      },
      [](const GroupsReport& report, const TextStyle&) { return write_groups_json(report); }}},
    {"markdown",
     {[](const DifferenceReport& report, const TextStyle&) {
        return render_markdown(difference_document(report, Reader::Page));
      },
      [](const GroupsReport& report, const TextStyle&) {
        return render_markdown(groups_document(report, Reader::Page));
      }}},
    {"html",
     {[](const DifferenceReport& report, const TextStyle&) {
        return render_html(difference_document(report, Reader::Page));
      },
      [](const GroupsReport& report, const TextStyle&) {
        return render_html(groups_document(report, Reader::Page));
      }}}};

struct DiffOptions {
  InputOptions input;              ///< Two paths, GOOD and BAD; with `bad` one or more good ones.
  std::vector<std::string> bad;    ///< Empty: two runs are compared.
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  WriteDiff format = kDiffAsText;
  bool fails = false;  ///< Exit with 1 if the runs differ.
  ColorChoice color = ColorChoice::Auto;
};

/// One of the two runs, judged.
const AnalyzedLogs& keep(const DiffOptions& options, const std::string& path, Console& console) {
  AnalyzeOptions one;
  one.input = {.paths = {path}, .threads = options.input.threads};
  one.rules = options.rules;
  return console.keep([&] { return analyze_logs(one, console.progress); });
}

/// Reads the lines that stand beside the rows and are known by their places only.
void fill(const AnalyzedLogs& logs, RunDifference& difference, FactValue DifferenceRow::*side) {
  std::vector<Evidence*> lines;
  for (DifferenceRow& row : difference.rows) {
    for (Evidence& line : (row.*side).evidence) lines.push_back(&line);
  }
  fill_lines(logs.read, lines);
}

/// Where no bandwidth tells that a run is slower, the times of its steps may.
void compare_steps(const AnalyzedLogs& good, const AnalyzedLogs& bad, RunDifference& difference) {
  if (difference.speed) return;
  const auto good_times = step_times(read_step_lines(good.report.job, good.read));
  if (!good_times) return;
  const auto bad_times = step_times(read_step_lines(bad.report.job, bad.read));
  if (!bad_times) return;
  difference.speed = step_difference(*good_times, *bad_times);
  if (!difference.speed) return;
  const int nhosts = std::max(good.report.job.nhosts, bad.report.job.nhosts);
  difference.speed->causes = speed_causes(*difference.speed, difference.rows, nhosts);
  // How much of a step is communication, no line tells.
  for (SpeedCause& cause : difference.speed->causes) {
    cause.likelihood = std::max(cause.likelihood, SpeedLikelihood::Possible);
  }
}

/// The text, or its first sentence where that is asked for.
template <typename Report>
void print_diff(const DiffOptions& options, const Report& report, const Document& document,
                std::string (*write)(const Report& report, const TextStyle& style),
                Console& console) {
  const TextStyle style = console.style(options.color);
  const bool is_line = console.quiet && options.format == kDiffAsText;
  console.out += is_line ? lead_line(document, style) : write(report, style);
}

ExitStatus diff_groups(const DiffOptions& options, Console& console) {
  if (options.input.paths.empty()) {
    throw Error("no good run is named", "diff",
                "ncclog diff GOOD… --bad BAD…: each a file, a folder or an archive");
  }
  std::set<std::string> all(options.input.paths.begin(), options.input.paths.end());
  all.insert(options.bad.begin(), options.bad.end());
  if (all.size() < options.input.paths.size() + options.bad.size()) {
    throw Error("a run is named twice", "diff", "each counts once: as a good one, or as a bad one");
  }
  ExitStatus read = ExitStatus::Fine;
  const auto analyzed = [&](const std::vector<std::string>& paths) {
    std::vector<GroupedRun> runs;
    for (const std::string& path : paths) {
      runs.push_back({path, keep(options, path, console).report});
      read = std::max(read, exit_status(runs.back().report.job));
    }
    return runs;
  };
  std::vector<GroupedRun> good = analyzed(options.input.paths);
  const GroupsReport report = grouped(std::move(good), analyzed(options.bad));
  print_diff(options, report, groups_document(report), options.format.groups, console);
  const GroupsStatus status = status_of(report.facts);
  if (options.fails && status == GroupsStatus::Different) return ExitStatus::Findings;
  return status == GroupsStatus::CannotCompare ? ExitStatus::Partial : read;
}

ExitStatus diff(const DiffOptions& options, Console& console) {
  if (!options.bad.empty()) return diff_groups(options, console);
  const std::vector<std::string>& paths = options.input.paths;
  if (paths.size() != 2) {
    throw Error(
        "two runs are needed", "diff",
        "ncclog diff GOOD BAD: give a file, a folder or an archive for each; of more, 'ncclog "
        "diff GOOD… --bad BAD…'");
  }
  const AnalyzedLogs& good = keep(options, paths[0], console);
  const AnalyzedLogs& bad = keep(options, paths[1], console);
  DifferenceReport report{paths[0], paths[1], good.report, bad.report,
                          difference_of(good.report, bad.report)};
  compare_steps(good, bad, report.difference);
  fill(good, report.difference, &DifferenceRow::good);
  fill(bad, report.difference, &DifferenceRow::bad);
  print_diff(options, report, difference_document(report), options.format.two, console);
  const DifferenceStatus status = status_of(report.difference);
  if (options.fails && status == DifferenceStatus::Different) return ExitStatus::Findings;
  if (status == DifferenceStatus::CannotCompare) return ExitStatus::Partial;
  return std::max(exit_status(good.report.job), exit_status(bad.report.job));
}

}  // namespace

void declare_diff(CommandRow& command) {
  DiffOptions& options = options_of(command, diff);
  add_input_flags(command, options.input);
  command.arguments.back().help =
      "two runs, GOOD and BAD, or with --bad all good ones: each a file, a folder or an archive";
  add_flag(command, kJudgingFlags, "--bad PATH", options.bad,
           "a run that failed or was slow, against all others; may be repeated");
  add_choice(command, kOutputFlags, "--format", options.format, kDiffFormats,
             "text for people, json for scripts, markdown for an issue, html for a browser");
  add_choice(command, kJudgingFlags, "--fail-on", options.fails,
             in_order<bool>({"never", "different"}), "different: exit with 1 if the runs differ");
  add_flag(command, kJudgingFlags, "--exit-code", options.fails, "as --fail-on different")
      .is_hidden = true;
  add_rules_flag(command, options.rules);
  add_color_flag(command, options.color);
}

}  // namespace ncclog
