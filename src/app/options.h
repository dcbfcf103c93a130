// Options that several commands have, and the flags that fill them.
//
//   ncclog analyze --threads 4 --rules site-rules logs/
//   → InputOptions{.paths = {"logs/"}, .threads = 4}, rules {"site-rules"}
//
// They hold what the user typed, before anything is looked at. Options of one command stand in its
// own file. What concerns tables by name is at the end, as several commands need it.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"
#include "model/job.h"
#include "report/tables/table.h"
#include "report/tables/tables.h"

namespace ncclog {

/// What and how to read; part of every command that reads logs.
struct InputOptions {
  std::vector<std::string> paths;       ///< Files, folders, patterns, "-"; empty: a mistake.
  int threads = 0;                      ///< 0: one per processor.
  std::optional<StatedOutcome> stated;  ///< How the job ended, of commands that judge it.
};

/// Standard output as a flag names it.
inline constexpr const char* kStandardOutput = "-";

enum class ReportFormat { Text, Json };
enum class TableFormat { Text, Json, Csv };

inline constexpr Choice<ReportFormat> kReportFormats[] = {{"text", ReportFormat::Text},
                                                          {"json", ReportFormat::Json}};

void add_input_flags(CommandRow& command, InputOptions& input);
void add_outcome_flag(CommandRow& command, InputOptions& input);
/// `rules` are files and folders that add to the built-in rules.
void add_rules_flag(CommandRow& command, std::vector<std::string>& rules);
void add_color_flag(CommandRow& command, ColorChoice& color);

/// The table of that name. Throws Error, naming the command `where` and what it could have meant,
/// if there is none; `also` are further names that the command knows.
const TableKind& chosen_table(std::string_view name, std::string_view where,
                              std::span<const std::string_view> also = {});

/// Appends the table to `console.out`. Text is cut to the width of a terminal.
void print_table(const Table& table, TableFormat format, ColorChoice color, Console& console);

/// Writes the rows as they are made, as JSON or CSV; text needs all of them, so it needs a Table.
void print_stream(const TableStream& table, TableFormat format, Console& console);

}  // namespace ncclog
