// Everything a run has to say, as one value: what was read, what it shows, what follows from it.
//
// A report holds no clock, locale, hash order or pointer: same input, same bytes. People read it as
// a document (report/document/report_document.h), programs as JSON:
//
//   --md report.md        Markdown, for an issue
//   --json report.json    the schema ncclog.report/3
//
// A format is one row: its name, its flag and the function that writes it. Command lines, help and
// tests walk the table, so a new format is its function and its row.

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "report/text_layout.h"
#include "rules/finding.h"
#include "rules/profile.h"

namespace ncclog {

struct Rulebook;

/// Which program and which rules said this.
struct Tool {
  std::string name = "ncclog";
  std::string version;   ///< "1.0.0".
  std::string rulebook;  ///< Hash of the rules that were used.
};

/// What a replay of the job on other GPUs showed: a result of `ncclog replay run`. One that is not
/// of these logs is named, with the reason, and supports nothing.
struct ReplaySummary {
  std::string file;                  ///< The result's path, as the user named it.
  std::string unfit;                 ///< Why it is not of these logs, a clause; empty: it is.
  std::string finding;               ///< Id of the finding that was tested; empty: none.
  std::string kind;                  ///< "reproduced-hypothesis", …
  std::string confidence;            ///< "certain", "likely", "possible"; empty: it claims nothing.
  std::string headline;              ///< One sentence.
  std::string machine;               ///< "2 x NVIDIA H200, NCCL 2.28.9"; empty: nothing was run.
  std::vector<std::string> runs;     ///< One line each.
  std::vector<std::string> changed;  ///< What was not as recorded.
  std::vector<std::string> limits;   ///< What it cannot show.
  std::vector<std::string> must_not_conclude;

  bool operator==(const ReplaySummary&) const = default;
};

struct Report {
  Tool tool;
  Job job;
  Diagnosis diagnosis;
  std::optional<Profile> profile;       ///< nullopt: none was asked for.
  std::optional<ReplaySummary> replay;  ///< nullopt: none was named.
  std::string logs;  ///< What to type for the logs in a command; empty: they have no name.
};

/// A format of reports.
struct ReportKind {
  std::string_view name;  ///< Of `--format`: "markdown".
  std::string_view flag;  ///< Of the flag that names a file, and the file's usual ending: "md".
  std::string_view help;  ///< Of that flag: what is written, without a full stop.
  /// The whole report, with a newline at the end. Only text looks at the style.
  std::string (*write)(const Report& report, const TextStyle& style);
  bool is_passed_on = true;  ///< A bundle has it.
};

/// All formats, in the order in which the help lists them; valid for the whole program.
std::span<const ReportKind> report_kinds();

/// The format of that name; nullptr if there is none.
const ReportKind* find_report_kind(std::string_view name);

/// Issue forms of projects, which Markdown fills (report/document/issue_form.cc): "nccl",
/// "pytorch", "vllm", "sglang". The flag is of Markdown.
std::span<const ReportKind> issue_forms();

// The formats. All but JSON render the report's document (report/document/report_document.h).

std::string write_text(const Report& report, const TextStyle& style);
std::string write_markdown(const Report& report, const TextStyle& style = {});
std::string write_html(const Report& report, const TextStyle& style = {});
std::string write_json(const Report& report);  ///< Indented.
/// Annotations as GitHub's Actions read them ("Workflow commands"), one a finding and one more.
std::string write_github(const Report& report, const TextStyle& style = {});
/// Gauges for the textfile collector of Prometheus' node_exporter.
std::string write_prometheus(const Report& report, const TextStyle& style = {});

// The JSON Schemas of what ncclog writes and reads as JSON or YAML, draft 2020-12. They are made of
// the tables and names by which the program itself writes and reads, so that a key that is added is
// in them.

/// Of write_json().
std::string report_schema();

/// Of rule files, files of shared names and overlays: what an editor needs to complete names and to
/// underline mistakes while somebody types.
///
///   # yaml-language-server: $schema=/usr/share/ncclog/rules/rule.schema.json
///
/// It names the rules of the rulebook where a rule's id may stand. It knows no more than names and
/// shapes; `ncclog rules check` has the last word.
std::string rule_schema(const Rulebook& rulebook);

/// An evidence line of the JSON report is shown up to this many bytes.
inline constexpr size_t kMaxEvidenceBytes = 1024;

/// A format file of lnav, which teaches it the lines of NCCL and PyTorch: report/nccl.lnav.json.
std::string_view lnav_format();

}  // namespace ncclog
