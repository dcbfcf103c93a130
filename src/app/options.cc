#include "app/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "log/iteration_marker.h"

namespace ncclog {
namespace {

int64_t number_behind(const char* flag, const std::string& word, NumberRange range) {
  const auto number = parse_int(word);
  if (number && *number >= range.least && *number <= range.most) return *number;
  throw Error(
      fmt::format("not a number from {} to {}: '{}'", range.least, range.most, printable(word)),
      flag);
}

template <typename Number>
CLI::Option* add_flag(CLI::App& app, const char* flag, NumberRange range, Number& target,
                      const std::string& help) {
  const auto set = [flag, range, &target](const std::string& word) {
    target = static_cast<Number>(number_behind(flag, word, range));
  };
  return app.add_option_function<std::string>(flag, set, help);
}

}  // namespace

CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, int& target,
                             const std::string& help) {
  return add_flag(app, flag, range, target, help);
}

CLI::Option* add_number_flag(CLI::App& app, const char* flag, NumberRange range, uint64_t& target,
                             const std::string& help) {
  return add_flag(app, flag, range, target, help);
}

namespace {

/// A word that a flag takes, and what it means.
template <typename Value>
struct Choice {
  std::string_view word;
  Value value;
};

constexpr Choice<ReportFormat> kReportFormats[] = {{"text", ReportFormat::Text},
                                                   {"json", ReportFormat::Json}};
constexpr Choice<TableFormat> kTableFormats[] = {
    {"text", TableFormat::Text}, {"json", TableFormat::Json}, {"csv", TableFormat::Csv}};
constexpr Choice<ShowFormat> kShowFormats[] = {{"text", ShowFormat::Text},
                                               {"json", ShowFormat::Json},
                                               {"csv", ShowFormat::Csv},
                                               {"svg", ShowFormat::Svg},
                                               {"dot", ShowFormat::Dot}};
constexpr Choice<ExportFormat> kExportFormats[] = {
    {"jsonl", ExportFormat::Jsonl},   {"csv", ExportFormat::Csv},
    {"text", ExportFormat::Text},     {"json", ExportFormat::Json},
    {"sqlite", ExportFormat::Sqlite}, {"trace", ExportFormat::Trace},
    {"lnav", ExportFormat::Lnav}};
constexpr Choice<DiffFormat> kDiffFormats[] = {
    {"text", DiffFormat::Text}, {"json", DiffFormat::Json}, {"markdown", DiffFormat::Markdown}};
constexpr Choice<FailOn> kFailOn[] = {{"error", FailOn::Error},
                                      {"warning", FailOn::Warning},
                                      {"info", FailOn::Info},
                                      {"never", FailOn::Never}};
constexpr Choice<StatedOutcome> kOutcomes[] = {{"hung", StatedOutcome::Hung},
                                               {"crashed", StatedOutcome::Crashed},
                                               {"slow", StatedOutcome::Slow},
                                               {"finished", StatedOutcome::Finished}};
constexpr Choice<ColorChoice> kColors[] = {
    {"auto", ColorChoice::Auto}, {"always", ColorChoice::Always}, {"never", ColorChoice::Never}};

constexpr Choice<CountBy> kCountBy[] = {{"op", CountBy::Op},
                                        {"size", CountBy::Size},
                                        {"comm", CountBy::Comm},
                                        {"rank", CountBy::Rank},
                                        {"host", CountBy::Host},
                                        {"iteration", CountBy::Iteration},
                                        {"step-pattern", CountBy::StepPattern}};
constexpr Choice<IterationCut> kCuts[] = {{"aligned", IterationCut::Aligned},
                                          {"exact", IterationCut::Exact}};

template <typename Value>
std::vector<std::string_view> words_of(std::span<const Choice<Value>> choices) {
  std::vector<std::string_view> words;
  for (const auto& choice : choices) words.push_back(choice.word);
  return words;
}

template <typename Value>
Value chosen(const std::string& flag, const std::string& word,
             std::span<const Choice<Value>> choices) {
  for (const auto& choice : choices) {
    if (choice.word == word) return choice.value;
  }
  const auto words = words_of(choices);
  const auto nearest = nearest_name(word, words);
  throw Error(fmt::format("unknown value '{}'", printable(word)), flag,
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : fmt::format("one of: {}", fmt::join(words, ", ")));
}

/// `target` is a Value or an optional one; `all` must outlive `app`.
template <typename Target, typename Value>
void add_choice(CLI::App& app, const std::string& flag, Target& target,
                std::span<const Choice<Value>> all, const std::string& help) {
  const auto set = [flag, &target, all](const std::string& word) {
    target = chosen(flag, word, all);
  };
  const auto is_default = [&target](const Choice<Value>& choice) { return target == choice.value; };
  const auto fallback = std::find_if(all.begin(), all.end(), is_default);
  app.add_option_function<std::string>(flag, set, help)
      ->type_name(fmt::format("{}", fmt::join(words_of(all), "|")))
      ->default_str(fallback == all.end() ? std::string() : std::string(fallback->word));
}

template <typename Target, typename Value, size_t n>
void add_choice(CLI::App& app, const std::string& flag, Target& target,
                const Choice<Value> (&choices)[n], const std::string& help) {
  add_choice(app, flag, target, std::span<const Choice<Value>>(choices), help);
}

void add_color_flag(CLI::App& app, ColorChoice& color) {
  add_choice(app, "--color", color, kColors,
             "colour: on a terminal unless NO_COLOR is set (auto), always, never");
}

/// The formats of reports by name; valid for the whole program.
std::span<const Choice<const ReportKind*>> report_choices() {
  static const std::vector<Choice<const ReportKind*>> choices = [] {
    std::vector<Choice<const ReportKind*>> all;
    for (const ReportKind& kind : report_kinds()) all.push_back({kind.name, &kind});
    return all;
  }();
  return choices;
}

/// A flag for each format, which names the file that it is written to.
void add_output_flags(CLI::App& app, std::vector<ReportOutput>& outputs) {
  for (const ReportKind& kind : report_kinds()) {
    const std::string flag = fmt::format("--{}", kind.flag);
    const auto add = [flag, &kind, &outputs](const std::string& path) {
      if (path.empty()) throw Error("no file named", flag, "'-' is standard output");
      // What is typed replaces what the configuration file names.
      std::erase_if(outputs, [&](const ReportOutput& one) { return one.kind == &kind; });
      outputs.push_back({&kind, path});
    };
    app.add_option_function<std::string>(flag, add,
                                         fmt::format("write a report to FILE: {}", kind.help))
        ->type_name("FILE");
  }
}

void add_bundle_flags(CLI::App& app, BundleOptions& options) {
  const auto add_file = [&app](const char* flag, std::string& path, const char* help) {
    return app.add_option(flag, path, help)->type_name("FILE")->expected(1);
  };
  CLI::Option* bundle =
      add_file("--bundle", options.path,
               "write reports, logs and settings to one tar.zst for others; names "
               "of hosts, users, addresses, paths and jobs are replaced");
  app.add_flag("--anonymise,!--no-anonymise", options.anonymise,
               "whether names are replaced in the bundle (default: yes)")
      ->needs(bundle);
  app.add_flag("--allow-leaks", options.allow_leaks,
               "write the bundle even if a name is left in it; each place is printed")
      ->needs(bundle);
  add_file("--mapping", options.mapping,
           "where the list of replaced names goes (default: FILE.mapping.json beside the bundle)")
      ->needs(bundle);
  app.add_flag("--full-logs", options.full_logs,
               "put large logs into the bundle whole, not the lines that give the same findings")
      ->needs(bundle);
}

/// What both analyze and report take.
void add_judging_flags(CLI::App& app, AnalyzeOptions& options) {
  add_outcome_flag(app, options.input);
  add_rules_flag(app, options.rules);
  app.add_option("--expect", options.expect,
                 "a profile of what the job should look like: a name of 'ncclog expect list', or a "
                 "file")
      ->type_name("PROFILE")
      ->expected(1);
  app.add_option("--with-replay", options.with_replay,
                 "what 'ncclog replay run' wrote (result.json): its verdict joins the report")
      ->type_name("FILE")
      ->expected(1);
  add_choice(app, "--fail-on", options.fail_on, kFailOn,
             "exit with 1 if there is a finding of this severity or worse (default: error)");
}

}  // namespace

void add_input_flags(CLI::App& app, InputOptions& input) {
  app.add_option("PATH", input.paths, "log files, folders, quoted patterns, '-' for stdin")
      ->type_name("");
  add_number_flag(app, "--threads", {1, 1024}, input.threads,
                  "how many threads read; the report does not depend on it")
      ->type_name("N");
}

void add_outcome_flag(CLI::App& app, InputOptions& input) {
  add_choice(app, "--outcome", input.stated, kOutcomes,
             "what you saw of the job's end, which its logs may not tell: hung (their end is where "
             "it stood still), crashed, slow, finished");
}

void add_rules_flag(CLI::App& app, std::vector<std::string>& rules) {
  app.add_option("--rules", rules,
                 "a folder or file of rules that add to the built-in ones or, "
                 "with the same id, replace them, and of overlays; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_analyze_flags(CLI::App& app, AnalyzeOptions& options) {
  add_input_flags(app, options.input);
  add_choice(app, "--format", options.format, report_choices(),
             "text for people, json for scripts, markdown for an issue, html for a browser");
  add_output_flags(app, options.outputs);
  add_judging_flags(app, options);
  add_color_flag(app, options.color);
}

void add_report_flags(CLI::App& app, ReportOptions& options) {
  add_input_flags(app, options.analyze.input);
  add_output_flags(app, options.analyze.outputs);
  add_bundle_flags(app, options.bundle);
  add_judging_flags(app, options.analyze);
}

void add_explain_flags(CLI::App& app, ExplainOptions& options) {
  app.add_option("RULE", options.id, "the rule's id")->type_name("");
  add_input_flags(app, options.input);
  add_outcome_flag(app, options.input);
  add_rules_flag(app, options.rules);
  add_choice(app, "--format", options.format, kReportFormats, "text for people, json for scripts");
  app.add_flag_callback(
      "--json", [&options] { options.format = ReportFormat::Json; }, "the same as --format json");
  add_color_flag(app, options.color);
}

void add_diff_flags(CLI::App& app, DiffOptions& options) {
  add_input_flags(app, options.input);
  app.get_option("PATH")->description(
      "two runs, GOOD and BAD: each a file, a folder or an archive");
  add_choice(app, "--format", options.format, kDiffFormats,
             "text for people, json for scripts, markdown for an issue");
  app.add_flag("--exit-code", options.exit_code, "exit with 1 if the runs differ");
  add_rules_flag(app, options.rules);
  add_color_flag(app, options.color);
}

void add_show_flags(CLI::App& app, ShowOptions& options) {
  app.add_option("TABLE", options.what, "which table")->type_name("");
  add_input_flags(app, options.input);
  add_choice(
      app, "--format", options.format, kShowFormats,
      "text for people, json or csv for scripts; channels and topology also as drawings: svg "
      "for a browser, dot for Graphviz");
  app.add_option("--as", options.as, "messages: unknown lines as a draft of a message file")
      ->type_name("messages");
  add_color_flag(app, options.color);
}

void add_count_flags(CLI::App& app, CountOptions& options) {
  add_input_flags(app, options.input);
  const auto set_by = [&options](const std::string& words) {
    options.by.clear();
    for (const std::string_view word : split(words, ',')) {
      const CountBy by =
          chosen("--by", std::string(word), std::span<const Choice<CountBy>>(kCountBy));
      const bool known = std::find(options.by.begin(), options.by.end(), by) != options.by.end();
      if (!known) options.by.push_back(by);
    }
  };
  app.add_option_function<std::string>(
         "--by", set_by,
         "what to tell apart: one of these or several, with commas between (default: comm,op)")
      ->type_name(
          fmt::format("{}", fmt::join(words_of(std::span<const Choice<CountBy>>(kCountBy)), ",")));
  std::vector<std::string_view> presets;
  for (const IterationWording& wording : iteration_wordings()) {
    const bool known = std::find(presets.begin(), presets.end(), wording.preset) != presets.end();
    if (!known) presets.push_back(wording.preset);
  }
  app.add_option("--iteration", options.iteration,
                 fmt::format("what begins an iteration: auto (default), period, an RE2 expression "
                             "whose group 1 is the step, or one of {}",
                             fmt::join(presets, ", ")))
      ->type_name("WHAT");
  add_choice(app, "--cut", options.cut, kCuts,
             "aligned (default) to each process's calls, or exact at the marker");
  add_choice(app, "--format", options.format, kTableFormats,
             "text for people, json or csv for scripts");
  add_color_flag(app, options.color);
}

void add_env_check_flags(CLI::App& app, EnvOptions& options) {
  app.add_option("PATH", options.paths,
                 "scripts, .env, YAML or nccl.conf files, logs, '-' for stdin; without: the "
                 "environment of this shell and NCCL's configuration files")
      ->type_name("");
  app.add_option("--nccl", options.nccl, "the release of NCCL that the job uses")
      ->type_name("2.27.3");
  app.add_option("--interfaces", options.interfaces,
                 "interfaces of the job's hosts, against which filters are held (default for a "
                 "script: those of this machine)")
      ->type_name("LIST");
  app.add_option("--hcas", options.hcas, "RDMA devices of the job's hosts")->type_name("LIST");
  app.add_option("--log", options.log, "a log of the job: its hosts, and its release of NCCL")
      ->type_name("PATH");
  app.add_flag("--strict", options.strict, "exit with 1 for warnings, too");
  add_choice(app, "--format", options.format, kReportFormats, "text for people, json for scripts");
  add_color_flag(app, options.color);
}

void add_export_flags(CLI::App& app, ExportOptions& options) {
  app.add_option("--table", options.table,
                 "events (default): one row a line that is understood; or another of the tables")
      ->type_name("TABLE");
  add_input_flags(app, options.input);
  add_choice(
      app, "--format", options.format, kExportFormats,
      "of a table jsonl (default: one JSON object a line) or csv; of an answer text "
      "(default), json, jsonl or csv; sqlite: all tables in one file; trace: a time line for "
      "Perfetto and chrome://tracing; lnav: lnav's own format file");
  app.add_option("--sql", options.sql, "a statement about the tables that is answered")
      ->type_name("STATEMENT")
      ->expected(1);
  app.add_option("-o,--output", options.output, "write this file instead of standard output")
      ->type_name("FILE")
      ->expected(1);
  app.add_flag("--tables", options.list_tables, "say what the tables and their columns hold");
  add_rules_flag(app, options.rules);
}

std::string table_list() {
  std::string list = "Tables:\n";
  for (const TableKind& kind : table_kinds()) {
    list += fmt::format("  {:<17}{}\n", kind.name, kind.help);
  }
  return list;
}

const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also) {
  const TableKind* kind = find_table_kind(name);
  if (kind != nullptr) return *kind;
  std::vector<std::string_view> names(also.begin(), also.end());
  for (const TableKind& known : table_kinds()) names.push_back(known.name);
  const auto nearest = nearest_name(name, names);
  const std::string what =
      name.empty() ? "no table named" : fmt::format("no table '{}'", printable(name));
  throw Error(what, std::string(where),
              nearest ? fmt::format("did you mean '{}'?", *nearest)
                      : fmt::format("one of: {}", fmt::join(names, ", ")));
}

const DrawingKind& chosen_drawing(std::string_view name, std::string_view where) {
  const DrawingKind* kind = find_drawing_kind(name);
  if (kind != nullptr) return *kind;
  throw Error(fmt::format("no drawing of '{}'", printable(name)), std::string(where),
              "there is one of channels and of topology; other tables come as text, json and csv");
}

void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console) {
  switch (format) {
    case TableFormat::Text:
      console.out += write_table_text(table, console.style(color), /*fit=*/console.is_terminal);
      break;
    case TableFormat::Json:
      console.out += write_table_json(table);
      break;
    case TableFormat::Csv:
      console.out += write_table_csv(table);
      break;
  }
}

void print_stream(const TableStream& table, TableFormat format, Console& console) {
  const auto take = [&console](std::string_view text) {
    console.out += text;
    return console.pass_on();
  };
  if (format == TableFormat::Json) return write_stream_json(table, take);
  write_stream_csv(table, take);
}

}  // namespace ncclog
