// In which formats can a report be written?
//
//   --md report.md        Markdown, for an issue
//   --json report.json    the schema ncclog.report/2, for scripts
//
// A format is one row: its name, its flag and the function that writes it. Command lines, help and
// tests walk the table, so a new format is its function and its row.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "report/report.h"
#include "report/text_layout.h"

namespace ncclog {

/// A format of reports.
struct ReportKind {
  std::string_view name;  ///< Of `--format`: "markdown".
  std::string_view flag;  ///< Of the flag that names a file, and the file's usual ending: "md".
  std::string_view help;  ///< Of that flag: what is written, without a full stop.
  /// The whole report, with a newline at the end. Only text looks at the style.
  std::string (*write)(const Report& report, const TextStyle& style);
};

/// All formats, in the order in which the help lists them; valid for the whole program.
std::span<const ReportKind> report_kinds();

/// The format of that name; nullptr if there is none.
const ReportKind* find_report_kind(std::string_view name);

/// For a person: verdict first, then why, then what to do (report/document/report_document.h).
std::string write_text(const Report& report, const TextStyle& style);

/// For an issue (report/markdown/write_markdown.cc). Its first line, which nobody sees, keeps it
/// from being read as a log where it lies beside logs (input/find_inputs.h).
std::string write_markdown(const Report& report);

/// Bytes of that, so never fewer than characters. GitHub refuses issues of more than 65,536
/// characters; the rest is for what people write themselves.
inline constexpr size_t kMaxMarkdown = 60'000;

/// For a browser (report/html/write_html.cc).
std::string write_html(const Report& report);

/// For scripts (report/json/write_json.cc), indented.
std::string write_json(const Report& report);

/// An evidence line of the JSON report is shown up to this many bytes.
inline constexpr size_t kMaxEvidenceBytes = 1024;

/// A format file of lnav, which teaches it the lines of NCCL and PyTorch: report/nccl.lnav.json.
std::string_view lnav_format();

}  // namespace ncclog
