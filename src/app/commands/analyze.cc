#include "app/commands/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "app/cluster/tasks.h"
#include "app/commands/replay.h"
#include "app/read/read_document.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "input/find_inputs.h"
#include "part/part.h"
#include "report/document/document.h"
#include "report/document/report_document.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"
#include "rules/profile.h"
#include "rules/rule_tools.h"

namespace ncclog {

std::string today() {
  const auto seconds = parse_int(environment_variable("SOURCE_DATE_EPOCH"));
  if (seconds) return day_of(*seconds);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return day_of(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

std::vector<std::string> wanted_inputs(const InputOptions& options,
                                       std::vector<std::string>* skipped) {
  std::vector<std::string> inputs = find_inputs(options.paths, skipped);
  std::erase_if(inputs, is_host_record);
  return inputs;
}

Job load_job(const InputOptions& options, ReadingProgress* progress, LineMatcher matcher,
             ReadUnits* read) {
  ReadUnits unwanted;
  std::vector<std::string> skipped;
  Job job =
      read_job(wanted_inputs(options, &skipped),
               {.threads = options.threads, .matcher = std::move(matcher), .progress = progress},
               read != nullptr ? *read : unwanted);
  job.stated = options.stated;
  job.expected_hosts = options.expected_hosts;
  for (std::string& path : skipped) {
    JobInput& input = job.inputs.emplace_back();
    input.path = std::move(path);
    input.format = "plain";
    input.status = InputStatus::Skipped;
    input.note = "A pipe, a socket, a device or of the kernel's; name it itself to have it read.";
    job.losses.add(Loss::InputSkipped);
  }
  return job;
}

void judge_job(Report& report, const Rulebook& rulebook) {
  report.tool.version = version();
  report.tool.rulebook = rulebook.hash;
  std::vector<Finding> further;
  if (report.profile) {
    report.profile = check_profile(std::move(*report.profile), report.job);
    if (auto finding = profile_finding(*report.profile, report.job)) {
      further.push_back(std::move(*finding));
    }
  }
  report.diagnosis = evaluate(rulebook, report.job, std::move(further));
}

/// The paths as a shell reads them. Of many, as one pattern where all begin alike: that is what was
/// typed, most likely.
static std::string typed_logs(const std::vector<std::string>& paths) {
  constexpr size_t kMany = 3;
  std::string text = shell_text(paths);
  if (paths.size() <= kMany) return text;
  const auto [least, most] = std::ranges::minmax(paths);
  const auto at = std::ranges::mismatch(least, most).in1 - least.begin();
  const std::string start = least.substr(0, static_cast<size_t>(at));
  const std::string ending = std::filesystem::path(least).extension();
  const bool end_alike =
      std::ranges::all_of(paths, [&](const std::string& path) { return path.ends_with(ending); });
  if (start.empty() || text.find('\'') != text.npos) return text;
  return start + "*" + (end_alike ? ending : "");
}

AnalyzedLogs analyze_logs(const AnalyzeOptions& options, ReadingProgress* progress) {
  // What may be misspelt is looked at before logs are read, which may take minutes.
  AnalyzedLogs logs;
  logs.rulebook = load_rulebook(options.rules, today());
  Report& report = logs.report;
  if (!options.expect.empty()) report.profile = find_profile(options.expect);
  std::vector<HostReport> hosts;
  for (const std::string& path : options.with_hosts) {
    for (HostReport& host : load_host_reports(path)) hosts.push_back(std::move(host));
  }
  for (const std::string& path : find_inputs(options.input.paths)) {
    if (!is_host_record(path)) continue;
    for (HostReport& host : load_host_reports(path)) hosts.push_back(std::move(host));
  }
  std::optional<ReplayResult> replay;
  if (!options.with_replay.empty()) replay = load_replay_result(options.with_replay);
  // Judged in its place: a job that is moved forgets its answers, which the report asks for again.
  Job& job = report.job;
  job = load_job(options.input, progress, make_line_matcher(logs.rulebook), &logs.read);
  job.host_reports = std::move(hosts);
  if (options.input.paths != std::vector<std::string>{"-"}) {
    report.logs = typed_logs(options.input.paths);
  }
  judge_job(report, logs.rulebook);
  if (replay) report.replay = join_replay(report, *replay, options.with_replay);
  return logs;
}

AnalyzedLogs run_pipeline(const AnalyzeOptions& options, ReadingProgress* progress) {
  AnalyzedLogs logs = analyze_logs(options, progress);
  show_messages(logs.report.job, logs.read, logs.report.diagnosis.findings);
  fill_evidence(logs.read, logs.report.diagnosis.findings);
  quote_measured(logs.read, logs.report.job);
  return logs;
}

namespace {

bool is_console(const ReportOutput& output) { return output.path == kStandardOutput; }

}  // namespace

void check_outputs(std::span<const ReportOutput> outputs, std::span<const std::string> inputs,
                   bool prints, const std::string& replay) {
  std::set<std::string> places;
  if (prints) places.insert(kStandardOutput);
  for (const ReportOutput& output : outputs) {
    const bool is_new =
        places.insert(is_console(output) ? output.path : same_place(output.path)).second;
    if (!is_new && is_console(output)) {
      throw Error("two reports would go to standard output", fmt::format("--{}", output.kind->flag),
                  "name a file");
    }
    if (!is_new) throw Error("two reports would go to this file", output.path);
    if (is_console(output)) continue;
    check_output_file(output.path, inputs);
    check_other_file(output.path, replay, "the replay's result, which is to be read");
  }
}

void write_reports(const Report& report, std::span<const ReportOutput> outputs, Console& console) {
  for (const ReportOutput& output : outputs) {
    if (is_console(output)) {
      console.out += output.kind->write(report, console.style(ColorChoice::Never));
    } else {
      write_output_file(output.path, output.kind->write(report, {}));
      console.err += fmt::format("wrote {}\n", printable(output.path));
    }
  }
}

// ncclog analyze PATH…

std::string verdict_line(const Report& report, const TextStyle& style) {
  std::string line = lead_line(verdict_document(report), style);
  line.pop_back();
  if (exit_status(report.job) == ExitStatus::Partial) {
    line += " Part of the input was unreadable or cut.";
  }
  if (report.replay) line += " " + printable(replay_sentence(*report.replay));
  return line + "\n";
}

void write_requests(const Requests& asked, const AnalyzeOptions& options, const std::string& path) {
  const LineMatcher matcher = make_line_matcher(load_rulebook(options.rules, today()));
  std::string bytes;
  PartFile part([&](std::string_view more) { bytes += more; }, part_kin(matcher), {});
  for (const Request& request : asked) part.add(request);
  part.finish();
  write_output_file(path, bytes, /*is_private=*/true);
}

ExitStatus write_analysis(const AnalyzedLogs& logs, const AnalyzeOptions& options,
                          Console& console) {
  const Report& report = logs.report;
  const TextStyle style = console.style(options.color);
  if (options.by_template) {
    console.out += write_by_template(report, *options.by_template);
  } else if (options.format != nullptr) {
    const bool is_for_people = options.format->name == "text";
    console.out += console.quiet && is_for_people ? verdict_line(report, style)
                                                  : options.format->write(report, style);
  }
  write_reports(report, options.outputs, console);
  return exit_status(report, options.fail_on.value_or(FailOn::Error));
}

void add_output_flags(CommandRow& command, std::vector<ReportOutput>& outputs) {
  for (const ReportKind& kind : report_kinds()) {
    const std::string flag = fmt::format("--{}", kind.flag);
    const auto add = [flag, &kind, &outputs](const std::string& path) {
      if (path.empty()) throw Error("no file named", flag, "'-' is standard output");
      // What is typed replaces what the configuration file names.
      std::erase_if(outputs, [&](const ReportOutput& one) { return one.kind == &kind; });
      outputs.push_back({&kind, path});
    };
    add_flag_by(command, kOutputFlags, flag + " FILE", add,
                fmt::format("write a report to FILE: {}", kind.help));
  }
}

void add_judging_flags(CommandRow& command, AnalyzeOptions& options) {
  add_outcome_flag(command, options.input);
  add_rules_flag(command, options.rules);
  add_flag(command, kJudgingFlags, "--expect PROFILE", options.expect,
           "a profile of what the job should look like: a name of 'ncclog expect list', or a file");
  add_flag(command, kJudgingFlags, "--with-replay FILE", options.with_replay,
           "what 'ncclog replay run' wrote (result.json): its verdict joins the report");
  add_flag(command, kJudgingFlags, "--with-host FILE", options.with_hosts,
           "what 'ncclog doctor' wrote on a host of the job (--format json or --record): it "
           "confirms or refutes findings; may be repeated");
  add_choice(command, kJudgingFlags, "--fail-on", options.fail_on, in_order<FailOn>(),
             "exit with 1 if there is a finding of this severity or worse (default: error; where "
             "--for or --bundle asks for something to pass on: never)");
}

void add_analyze_flags(CommandRow& command, AnalyzeOptions& options) {
  add_input_flags(command, options.input);
  add_choice(command, kOutputFlags, "--format", options.format, choices_of(report_kinds()),
             "text for people, json for scripts, markdown for an issue, html for a browser");
  const auto set_template = [&options](const std::string& name) {
    options.by_template = find_report_template(name);
  };
  add_flag_by(command, kOutputFlags, "--template NAME", set_template,
              "print the report by a Mustache template: slack, jira, mail, or a file");
  add_output_flags(command, options.outputs);
  add_judging_flags(command, options);
  add_color_flag(command, options.color);
}

// ncclog explain RULE PATH…

namespace {

struct ExplainOptions {
  std::string id;  ///< Of the rule; empty: a mistake.
  InputOptions input;
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  bool is_json = false;            ///< Else text.
  ColorChoice color = ColorChoice::Auto;
};

ExitStatus explain_rule(const ExplainOptions& options, Console& console) {
  constexpr const char* kUsage =
      "ncclog explain RULE LOGS: the id stands beside each finding, and in 'ncclog rules list'";
  if (options.id.empty()) throw Error("no rule named", "explain", kUsage);
  const Rulebook rulebook = load_rulebook(options.rules, today());
  std::error_code ignored;
  if (std::filesystem::exists(options.id, ignored)) {
    throw Error(fmt::format("'{}' is a path, no rule", printable(options.id)), "explain", kUsage);
  }
  required_rule(rulebook, options.id);  // A misspelt id is not worth reading logs for.
  if (options.input.paths.empty()) {
    throw Error(
        "no logs named", "explain",
        fmt::format("ncclog explain {0} LOGS; what the rule is about: 'ncclog rules show {0}'",
                    options.id));
  }
  const Job job = load_job(options.input, console.progress, make_line_matcher(rulebook));
  const Explanation explanation = explain(rulebook, job, options.id);
  if (console.quiet && !options.is_json) {
    console.out += fmt::format("{}: {}\n", explanation.id, printable(explanation.sentence));
    return exit_status(job);
  }
  console.out += options.is_json ? write_explanation_json(explanation, job)
                                 : render_text(explanation_document(explanation, job),
                                               console.style(options.color));
  return exit_status(job);
}

}  // namespace

void declare_explain(CommandRow& command) {
  ExplainOptions& options = options_of(command, explain_rule);
  add_argument(command, "RULE", options.id, "the rule's id");
  add_input_flags(command, options.input);
  add_outcome_flag(command, options.input);
  add_rules_flag(command, options.rules);
  add_text_or_json_flag(command, options.is_json);
  const auto set_json = [&is_json = options.is_json](const std::string&) { is_json = true; };
  add_flag_by(command, kOutputFlags, "--json", set_json, "the same as --format json");
  add_color_flag(command, options.color);
}

}  // namespace ncclog
