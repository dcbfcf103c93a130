// ncclog doctor: what this host, another root or a record shows of what the rules name.
//
//   ncclog doctor                         this host
//   ncclog doctor --record n41.host       … and all that was read, for a bug report
//   ncclog doctor --root n41.host         the same findings, elsewhere
//   ncclog analyze LOGS --with-host n41.host

#include <fmt/format.h>

#include <filesystem>

#include "app/command_table.h"
#include "app/commands/analyze.h"
#include "app/exit_status.h"
#include "app/output.h"
#include "app/read/read_document.h"
#include "base/error.h"
#include "base/text.h"
#include "host/read_host.h"
#include "rules/load_rules.h"
#include "rules/profile.h"

namespace ncclog {
namespace {

struct DoctorOptions {
  std::string root;                ///< A folder or a record; empty: this host.
  std::string record;              ///< Where all that was read is written; empty: nowhere.
  std::vector<std::string> rules;  ///< Files and folders that add to the built-in rules.
  std::string expect;              ///< Profile's name or path; empty: none.
  const ReportKind* format = find_report_kind("text");  ///< Never nullptr.
  FailOn fail_on = FailOn::Error;
  ColorChoice color = ColorChoice::Auto;
};

std::vector<HostReport> reports_for(const DoctorOptions& options) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(options.root, error);
  if (!options.root.empty() && !is_folder) return load_host_reports(options.root);
  HostTree tree = HostTree::live(options.root.empty() ? "/" : options.root);
  const std::string source = options.root.empty() ? "this host" : options.root;
  std::vector<HostReport> reports = {read_host(tree, source)};
  if (reports.front().host.empty()) reports.front().host = source;
  return reports;
}

ExitStatus examine(const DoctorOptions& options, Console& console) {
  if (!options.record.empty()) {
    check_output_file(options.record, {});
    check_other_file(options.record, options.root, "what --root names");
  }
  Report report;
  if (!options.expect.empty()) report.profile = find_profile(options.expect);
  const Rulebook rulebook = load_rulebook(options.rules, today());
  report.job.host_reports = reports_for(options);
  judge_job(report, rulebook);
  // What logs could tell is no question of a host.
  report.diagnosis.not_judged.clear();
  report.diagnosis.capture = {};
  const TextStyle style = console.style(options.color);
  console.out += console.quiet && options.format->name == "text"
                     ? verdict_line(report, style)
                     : options.format->write(report, style);
  if (!options.record.empty()) {
    if (options.record == kStandardOutput)
      throw Error("standard output has the report", "--record");
    write_output_file(options.record, report.job.host_reports.front().record);
    console.err += fmt::format("wrote {}\n", printable(options.record));
  }
  return exit_status(report, options.fail_on);
}

}  // namespace

void declare_doctor(CommandRow& command) {
  DoctorOptions& options = options_of(command, examine);
  add_flag(command, kInputFlags, "--root PATH", options.root,
           "a folder with another system's files, or what --record wrote");
  add_flag(command, kOutputFlags, "--record FILE", options.record,
           "write all that was read to FILE, as text, for a bug report or --with-host");
  add_choice(command, kOutputFlags, "--format", options.format, choices_of(report_kinds()),
             "text for people, json for scripts and --with-host, markdown, html");
  add_rules_flag(command, options.rules);
  add_flag(command, kJudgingFlags, "--expect PROFILE", options.expect,
           "a profile of what a job here should look like: what a host shows of it is checked");
  add_choice(command, kJudgingFlags, "--fail-on", options.fail_on, in_order<FailOn>(),
             "exit with 1 if there is a finding of this severity or worse (default: error)");
  add_color_flag(command, options.color);
}

}  // namespace ncclog
