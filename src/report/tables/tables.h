// All tables, each once: its name, its columns with what they hold, its rows. `ncclog show`, its
// CSV and JSON, `ncclog export` and the database follow from that.
//
// Adding one is writing its function, its rows in columns.table and its row in tables.cc.

#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/job.h"
#include "report/report.h"
#include "report/tables/table.h"

namespace ncclog {

/// What columns.table says of a column; of a table as a whole where the name is empty.
struct Column {
  std::string_view table;
  std::string_view name;      ///< Heading, and key in JSON.
  std::string_view type;      ///< In the database: TEXT, INTEGER, REAL.
  std::string_view help;      ///< What it holds, without a full stop.
  std::string_view sql_word;  ///< Its name in the database, where SQL keeps `name` for itself.

  std::string_view sql_name() const { return sql_word.empty() ? name : sql_word; }
};

/// A kind of table.
struct TableKind {
  std::string_view name;  ///< What the user types.
  std::string_view help;  ///< One line.
  std::span<const Column> columns;
  std::array<std::string_view, 3> indexes;  ///< Of the database; columns of one joined by ", ".
  // Where its rows come from. Events and the documentation of the tables have neither: no report
  // holds them.
  void (*stream)(const Report& report, const RowTaker& take) = nullptr;
  Table (*build)(const Job& job) = nullptr;  ///< With its notes: one of `show`.

  bool has_rows() const { return stream != nullptr || build != nullptr; }
  void each_row(const Report& report, const RowTaker& take) const;  ///< Hands on all, in order.
  std::string sql_name() const;                                     ///< "nccl-tests" is nccl_tests.
  std::string sql_help() const;                                     ///< "as 'show ranks'".
};

/// All kinds, as the database has them; valid for the whole program.
std::span<const TableKind> all_tables();

/// Those of `show`, in the order in which the help lists them.
std::span<const TableKind> table_kinds();

/// The kind of that name in `show`; nullptr if there is none.
const TableKind* find_table_kind(std::string_view name);

/// The kind of that name in the database, in upper or lower case; nullptr if there is none.
const TableKind* find_sql_table(std::string_view name);

/// Each line that is understood: written while the logs are read, so that it has no rows here.
const TableKind& events_table();

/// The tables and columns themselves.
const TableKind& documentation_table();
void each_documentation_row(const RowTaker& take);

/// What the tables of the database and their columns hold, for a person.
std::string tables_text(int width);

/// A table of that name with its columns, empty.
Table table_of(std::string_view name);

Table ranks_table(const Job& job);  ///< One row per rank: where it is and what it said last.
Table communicators_table(const Job& job);
/// The last call that all ranks of each communicator entered, and who went on.
Table fronts_table(const Job& job);
Table environment_table(const Job& job);
Table network_table(const Job& job);
Table unknown_table(const Job& job);  ///< One row per shape of NCCL lines that no wording fits.

Table channels_table(const Job& job);  ///< One row per connection: from, to, path, channels.
/// One row a connection and end that announces it.
void each_connection_row(const Report& report, const RowTaker& take);
Table topology_table(const Job& job);  ///< Devices of each host, graphs of each communicator.
Table timeline_table(const Job& job);  ///< Milestones of each process, in order.

/// One row per Flight Recorder dump and process group.
Table flight_recorder_table(const Job& job);
Table ras_table(const Job& job);  ///< One row per communicator and statement of the RAS service.
Table nccl_tests_table(const Job& job);  ///< One row per size that nccl-tests measured.

/// The number of collectives that most ranks of a communicator made; if no number is that of most,
/// the largest. Ranks without a line are left out. Messages do not count: they differ from stage to
/// stage of a pipeline.
uint64_t usual_collectives(const Job& job, const Communicator& comm);

/// The shapes of lines that no wording fits.
std::vector<const std::pair<const std::string, UnknownLines>*> most_frequent_first(
    const UnknownShapes& unknown);

// Cells that several tables have.

Cell count_cell(uint64_t count);

Cell parent_cell(const Job& job, const Communicator& comm);  ///< Blank for none.

// Of a process; blank for -1.
Cell host_cell(const Job& job, int process);
Cell pid_cell(const Job& job, int process);
Cell rank_cell(const Job& job, int process);  ///< In the whole job.

/// "logs/nccl.1608:51"; blank if it is no line of the inputs, the path alone for a whole file.
Cell place_cell(const Job& job, SourceRef where);

}  // namespace ncclog
