// All tables, each once: its name, its columns with what they hold, its rows. `ncclog show`, its
// CSV and JSON, `ncclog export` and the database follow from that.
//
// Adding one is writing its function, its rows in columns.table and its row in tables.cc.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/iterations/call_counts.h"
#include "diagnose/iterations/iterations.h"
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
  std::string_view older_name = {};          ///< Under which the database has it, too; empty: none.

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

/// The JSON Schema of tables: write_table_json(), and by name the rows that write_table_jsonl()
/// prints.
std::string table_schema();

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
Table ras_table(const Job& job);     ///< One row per communicator and statement of the RAS service.
Table stacks_table(const Job& job);  ///< One row per frame of the tree of all main threads' stacks.
Table nccl_tests_table(const Job& job);  ///< One row per size that nccl-tests measured.

/// The number of collectives that most ranks of a communicator made; if no number is that of most,
/// the largest. Ranks without a line are left out. Messages do not count: they differ from stage to
/// stage of a pipeline.
uint64_t usual_collectives(const Job& job, const Communicator& comm);

/// The shapes of lines that no wording fits.
std::vector<const std::pair<const std::string, UnknownLines>*> most_frequent_first(
    const UnknownShapes& unknown);

// What several tables have in their cells.

/// The process of that place; one of which nothing is known for -1.
const Process& process_at(const Job& job, int process);

/// The id of the communicator that it was split from; empty for none.
std::string_view parent_id(const Job& job, const Communicator& comm);

// The calls that a job counted as a table, and its iterations in sentences.
//
//   comm        op             calls    elements        bytes  processes
//   inferred-1  AllGather        192   201326592    402653184          8
//
//   iterations 1-5 are identical: 4 AllGather, 4 ReduceScatter, 1 AllReduce in each of 8 processes
//   iteration 0 differs: + 1 Broadcast
//   before the first iteration: 1 AllReduce; after the last one: 1 AllReduce

/// Each sentence about the iterations: how they were cut and how sure that is, the usual ones, the
/// odd ones, the processes that depart from the others, the calls outside of them.
std::vector<std::string> iteration_text(const Job& job, const JobCalls& calls,
                                        const JobIterations& found);

/// "4 AllGather, 1 AllReduce", most frequent first; "no calls" for none.
std::string calls_text(const OpCounts& calls);

// How are counts by iteration shown, when a training has a million iterations?
//
//   iteration  op         calls            iteration  op         calls
//   1          AllGather     32            1-155370   AllGather     32   each iteration 32
//   1          AllReduce      8            1-155370   AllReduce      8
//   2          AllGather     32
//   …          one row for each, for programs and where they are few; folded for people

/// How many rows there are with one for each iteration.
uint64_t single_row_count(const std::vector<CountRow>& rows);

/// Calls the function for each of these rows in order, with the iteration's number; false from it
/// ends that. `rows` are of a CallCountTable counted by `by`. The number is of a meaning only where
/// CountRow::iterations is above 1.
void each_single_row(const std::vector<CountRow>& rows, const std::vector<CountBy>& by,
                     const std::function<bool(const CountRow& row, int64_t iteration)>& visit);

/// One row for neighbouring iterations that say the same, with "1-155370" as their key; its sums
/// stay those of one iteration.
std::vector<CountRow> folded_rows(const std::vector<CountRow>& rows,
                                  const std::vector<CountBy>& by);

/// All calls in a sentence: "272 calls of 8 processes: 100 AllGather, …".
std::string count_sentence(const Job& job, const JobCalls& calls);

/// One row for each combination of what it is counted by; notes say where the numbers come from,
/// what they mean and what is missing, and describe the iterations. `iterations` may be nullptr.
/// `job` and `by` must outlive the table, which makes most rows when they are asked for. If it
/// `may_fold`, neighbouring iterations that say the same share a row where iterations make many, and
/// a note says so; else every iteration has its rows, however many there are.
Table count_table(const Job& job, const JobCalls& calls, const JobIterations* iterations,
                  const std::vector<CountBy>& by, bool may_fold);

}  // namespace ncclog
