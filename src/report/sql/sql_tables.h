// The tables of the database that `ncclog export` makes: their columns, what each means, how its
// rows come from a report.
//
//   findings(finding, severity, confidence, role, title, …)   one row a finding
//   ranks(rank, host, pid, gpu, …)                            the table `ncclog show ranks` prints
//   events(file, line, time, host, …)                         one row a line that is understood
//
// This is the one place where tables are described: CREATE TABLE, `ncclog export --tables`, the
// help and the table `documentation` inside each database are made of it.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/job.h"
#include "report/report.h"
#include "report/tables/table.h"

namespace ncclog {

struct SqlColumn {
  std::string_view name;     ///< Never a keyword of SQL: needs no quotes.
  std::string_view type;     ///< "INTEGER", "REAL", "TEXT".
  std::string_view meaning;  ///< What it is, units, what NULL means where that is not "not known".
};

struct SqlTable {
  std::string_view name;
  std::string_view help;  ///< One line.
  std::span<const SqlColumn> columns;
  std::span<const std::string_view> indexes;  ///< Of each index its columns: "file, line".
  /// Hands on all rows, a cell for each column; nullptr: they come from elsewhere than a report.
  void (*each_row)(const Report& report, const RowTaker& take) = nullptr;
};

/// All tables, in the order in which they are listed; valid for the whole program.
std::span<const SqlTable> sql_tables();

/// The table of that name in any case; nullptr if there is none.
const SqlTable* find_sql_table(std::string_view name);

/// The table whose rows are written while the logs are read.
const SqlTable& sql_events_table();

/// The table that describes all others, and its rows.
const SqlTable& sql_documentation_table();
void each_documentation_row(const RowTaker& take);

/// The documentation: each table with its columns, in lines of at most `width` columns.
std::string sql_tables_text(int width);

}  // namespace ncclog
