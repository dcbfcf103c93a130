// In which formats can a report be written?
//
//   --md report.md        Markdown, for an issue
//   --json report.json    the schema ncclog.report/2, for scripts
//
// A format is one row: its name, its flag and the function that writes it. Command lines, help and
// tests walk the table, so a new format is its function and its row.

#pragma once

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

}  // namespace ncclog
