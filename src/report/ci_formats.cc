// Reports for the systems that watch jobs: annotations of GitHub's Actions, samples for Prometheus.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "report/report.h"

namespace ncclog {
namespace {

/// "%0A" for a line's end, as GitHub's workflow commands have it; in a property, which ends at a comma
/// or a colon, these too.
std::string command_text(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : printable(text)) {
    const bool is_escaped = c == '%' || (is_property && (c == ':' || c == ','));
    out += is_escaped ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return out;
}

constexpr std::string_view kLevels[] = {"error", "warning", "notice"};  // In the order of Severity.

/// A label's value as Prometheus' text format has it.
std::string label_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

/// ::error file=logs/n1.log,line=162,title=process-killed::SIGKILL ended rank 3 (pid 1021 on n1).
std::string write_github(const Report& report, const TextStyle&) {
  std::string text;
  for (const Finding& finding : report.diagnosis.findings) {
    std::string place;
    if (!finding.evidence.empty()) {
      const FileLine line = file_line(report.job, finding.evidence.front().where);
      place = fmt::format("file={},line={},", command_text(line.path, true), line.line);
    }
    text += fmt::format("::{} {}title={}::{}\n", kLevels[static_cast<size_t>(finding.severity)],
                        place, finding.id, command_text(finding.headline, false));
  }
  const Verdict& verdict = report.diagnosis.verdict;
  return text + fmt::format("::notice title=ncclog {}::{}\n", to_string(verdict.status),
                            command_text(verdict.headline, false));
}

/// Gauges for node_exporter's textfile collector: the verdict, findings by severity, and what of the
/// input was not whole. `logs` is what was typed.
std::string write_prometheus(const Report& report, const TextStyle&) {
  const std::string logs = label_text(report.logs);
  std::string text;
  const auto add_family = [&](std::string_view name, std::string_view help) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  };
  const auto add = [&](std::string_view name, std::string_view label, std::string_view value,
                       size_t sample) {
    text += fmt::format("{}{{logs=\"{}\",{}=\"{}\"}} {}\n", name, logs, label, value, sample);
  };
  add_family("ncclog_verdict", "1 for the verdict on the job, 0 for the others.");
  const VerdictStatus status = report.diagnosis.verdict.status;
  for (const std::string_view word : words_of_enum<VerdictStatus>())
    add("ncclog_verdict", "status", word, word == to_string(status) ? 1 : 0);
  add_family("ncclog_findings", "Findings by severity.");
  for (const std::string_view word : words_of_enum<Severity>()) {
    const auto is_of = [&](const Finding& finding) { return to_string(finding.severity) == word; };
    add("ncclog_findings", "severity", word,
        static_cast<size_t>(std::ranges::count_if(report.diagnosis.findings, is_of)));
  }
  add_family("ncclog_inputs", "Files that were read, by what was there of them.");
  for (const std::string_view word : words_of_enum<InputStatus>()) {
    const auto is_of = [&](const JobInput& input) { return to_string(input.status) == word; };
    add("ncclog_inputs", "status", word,
        static_cast<size_t>(std::ranges::count_if(report.job.inputs, is_of)));
  }
  return text;
}

}  // namespace ncclog
