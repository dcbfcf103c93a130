#include "app/export_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/analyze.h"
#include "app/event_walk.h"
#include "app/part_file.h"
#include "app/print_table.h"
#include "app/write_event.h"
#include "app/write_recorded.h"
#include "base/error.h"
#include "base/text.h"
#include "report/sql/sql_database.h"

namespace ncclog {
namespace {

/// As text, so many rows of an answer are shown: all of them are needed to align columns.
constexpr size_t kMostRowsAsText = 10'000;

using Tables = std::vector<const SqlTable*>;

Tables all_tables() {
  Tables tables;
  for (const SqlTable& table : sql_tables()) tables.push_back(&table);
  return tables;
}

bool needs_events(const Tables& tables) {
  return std::find(tables.begin(), tables.end(), &sql_events_table()) != tables.end();
}

bool needs_report(const Tables& tables) {
  return std::any_of(tables.begin(), tables.end(),
                     [](const SqlTable* table) { return table->each_row != nullptr; });
}

ExitStatus write_events(const std::vector<std::string>& inputs, SqlDatabase& database,
                        Console& console) {
  SqlInsert insert(database, sql_events_table());
  const EventTaker taker = {
      [&](const WalkedEvent& walked) {
        insert.add(event_cells(walked));
        return true;
      },
      [&](std::string_view file, const FlightRecorderDump& dump, size_t index) {
        insert.add(recorded_cells(file, dump, index));
        return true;
      }};
  return walk_events(inputs, taker, console);
}

/// Reads the logs as often as the tables need it.
ExitStatus fill(const ExportOptions& options, const Tables& tables, SqlDatabase& database,
                Console& console) {
  ExitStatus status = ExitStatus::Fine;
  if (tables.empty()) return status;
  const std::vector<std::string> inputs = wanted_inputs(options.input);
  const bool both = needs_events(tables) && needs_report(tables);
  if (both && std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) {
    throw Error("standard input can be read once, and this takes two readings", "export",
                "save the log to a file first");
  }
  if (needs_report(tables)) {
    const Report report = run_pipeline({.input = options.input, .rules = options.rules});
    for (const SqlTable* table : tables) database.fill(*table, report);
    status = exit_status(report.job);
  }
  if (needs_events(tables) && write_events(inputs, database, console) == ExitStatus::Partial) {
    status = ExitStatus::Partial;
  }
  return status;
}

void print_text(SqlQuestion& question, Console& console) {
  Table table{.name = "answer", .columns = question.columns()};
  bool cut = false;
  question.each_row([&](std::span<const Cell> cells) {
    cut = table.rows.size() == kMostRowsAsText;
    if (!cut) table.rows.emplace_back(cells.begin(), cells.end());
    return !cut;
  });
  if (table.rows.empty()) table.notes.push_back("No rows.");
  if (cut) {
    table.notes.push_back(fmt::format(
        "These are the first {} rows; --format csv, json or jsonl writes all.", kMostRowsAsText));
  }
  print_table(table, TableFormat::Text, ColorChoice::Auto, console);
}

void print_jsonl(SqlQuestion& question, Console& console) {
  question.each_row([&](std::span<const Cell> cells) {
    console.out += jsonl_row(question.columns(), cells);
    return console.pass_on();
  });
}

void print_answer(SqlQuestion& question, ExportFormat format, Console& console) {
  if (format == ExportFormat::Text) return print_text(question, console);
  if (format == ExportFormat::Jsonl) return print_jsonl(question, console);
  TableStream table{.name = "answer", .columns = question.columns()};
  table.each_row = [&](const RowTaker& take) { question.each_row(take); };
  print_stream(table, format == ExportFormat::Json ? TableFormat::Json : TableFormat::Csv, console);
}

}  // namespace

ExitStatus export_database(const ExportOptions& options, Console& console) {
  if (options.output.empty() || options.output == "-") {
    throw Error("a database is a file", "export", "name it: -o job.db");
  }
  PartFile file(options.output);
  ExitStatus status = ExitStatus::Fine;
  {
    SqlDatabase database(file.part());
    status = fill(options, all_tables(), database, console);
    database.commit();
  }
  file.keep();
  console.err += fmt::format("wrote {}\n", printable(options.output));
  return status;
}

ExitStatus answer_sql(const ExportOptions& options, Console& console) {
  const ExportFormat format = options.format.value_or(ExportFormat::Text);
  const ExportFormat kFormats[] = {ExportFormat::Text, ExportFormat::Json, ExportFormat::Jsonl,
                                   ExportFormat::Csv};
  if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats)) {
    throw Error("an answer is text, json, jsonl or csv", "--sql");
  }
  SqlDatabase database("");
  SqlQuestion question(database, options.sql);
  const ExitStatus status = fill(options, question.tables(), database, console);
  database.commit();
  print_answer(question, format, console);
  return status;
}

}  // namespace ncclog
