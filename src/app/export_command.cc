// ncclog export PATH… [--table NAME] [--format FORMAT] [--sql STATEMENT] [-o FILE]
//
// Events are written while the logs are read, in input order, so memory does not depend on how long
// they are. All other tables are those of `show` and of the database.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/analyze.h"
#include "app/commands.h"
#include "app/event_walk.h"
#include "app/export_sql.h"
#include "app/export_trace.h"
#include "app/output_file.h"
#include "app/part_file.h"
#include "app/table_choice.h"
#include "app/write_event.h"
#include "app/write_recorded.h"
#include "base/error.h"
#include "report/report_formats.h"
#include "report/sql/sql_tables.h"

namespace ncclog {
namespace {

constexpr std::string_view kEvents = "events";

ExitStatus export_events(const ExportOptions& options, bool csv, Console& console) {
  if (csv) console.out += event_csv_heading();
  const EventTaker taker = {
      [&](const WalkedEvent& walked) {
        if (csv) console.out += csv_row(event_cells(walked));
        if (!csv) append_event_json(console.out, walked);
        return console.pass_on();
      },
      [&](std::string_view file, const FlightRecorderDump& dump, size_t index) {
        if (csv) console.out += csv_row(recorded_cells(file, dump, index));
        if (!csv) append_recorded_json(console.out, file, dump, index);
        return console.pass_on();
      }};
  return walk_events(wanted_inputs(options.input), taker, console);
}

/// A table that only the database has.
ExitStatus export_sql_table(const ExportOptions& options, const SqlTable& table, bool csv,
                            Console& console) {
  std::vector<std::string> columns;
  for (const SqlColumn& column : table.columns) columns.emplace_back(column.name);
  const Report report = run_pipeline({.input = options.input, .rules = options.rules});
  if (csv) console.out += write_table_csv({.name = std::string(table.name), .columns = columns});
  table.each_row(report, [&](std::span<const Cell> cells) {
    console.out += csv ? csv_row(cells) : jsonl_row(columns, cells);
    return console.pass_on();
  });
  return exit_status(report.job);
}

ExitStatus export_table(const ExportOptions& options, bool csv, Console& console) {
  if (options.table == kEvents) return export_events(options, csv, console);
  const SqlTable* more = find_sql_table(options.table);
  const bool has_rows = more != nullptr && more->each_row != nullptr;
  if (has_rows && find_table_kind(options.table) == nullptr) {
    return export_sql_table(options, *more, csv, console);
  }
  std::vector<std::string_view> names;
  for (const SqlTable& table : sql_tables()) {
    const bool offered = table.each_row != nullptr || &table == &sql_events_table();
    if (offered && find_table_kind(table.name) == nullptr) names.push_back(table.name);
  }
  const TableKind& kind = chosen_table(options.table, "export", names);
  const Job job = load_job(options.input);
  const Table table = kind.build(job);
  console.out += csv ? write_table_csv(table) : write_table_jsonl(table);
  return exit_status(job);
}

ExitStatus write_export(const ExportOptions& options, Console& console) {
  switch (options.format.value_or(ExportFormat::Jsonl)) {
    case ExportFormat::Jsonl:
      return export_table(options, /*csv=*/false, console);
    case ExportFormat::Csv:
      return export_table(options, /*csv=*/true, console);
    case ExportFormat::Trace:
      return export_trace(options, console);
    case ExportFormat::Lnav:
      console.out += lnav_format();
      return ExitStatus::Fine;
    case ExportFormat::Sqlite:
    case ExportFormat::Text:
    case ExportFormat::Json:
      break;
  }
  throw Error("text and json are formats of answers to --sql", "--format",
              "'ncclog show TABLE' prints tables; a table is exported as jsonl or csv");
}

/// Before long work: whether the file can be written, and is none of the logs.
void check_output(const ExportOptions& options) {
  if (options.output.empty() || options.output == "-") return;
  std::vector<std::string> inputs;
  if (!options.input.paths.empty()) inputs = wanted_inputs(options.input);
  check_output_file(options.output, inputs);
}

ExitStatus run_export(const ExportOptions& options, Console& console) {
  if (options.list_tables) {
    console.out += sql_tables_text(console.columns);
    return ExitStatus::Fine;
  }
  check_output(options);
  const bool asks = !options.sql.empty();
  if (!asks && options.format == ExportFormat::Sqlite) return export_database(options, console);
  return run_into(options.output, console, [&](Console& to) {
    return asks ? answer_sql(options, to) : write_export(options, to);
  });
}

/// What --table and --sql know, as the help shows it.
std::string export_list() {
  std::string list = "Tables (--tables tells their columns):\n";
  for (const SqlTable& table : sql_tables()) {
    list += fmt::format("  {:<17}{}\n", table.name, table.help);
  }
  return list;
}

}  // namespace

RunCommand declare_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  add_export_flags(app, *options);
  app.footer(export_list);  // Stands above the examples.
  return [options](Console& console) { return run_export(*options, console); };
}

}  // namespace ncclog
