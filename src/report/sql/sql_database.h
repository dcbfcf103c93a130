// A SQLite database of the tables in report/tables/tables.h: made, filled, and asked.
//
//   SqlDatabase database("job.db");
//   database.fill(*find_sql_table("findings"), report);
//   SqlQuestion question(database, "select severity, count(*) from findings group by 1");
//   question.each_row(…);
//
// Same report, same rows in the same order. Text is stored as valid UTF-8.

#pragma once

#include <sqlite3.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/posix.h"
#include "report/tables/tables.h"

namespace ncclog {

using SqlStatement = std::unique_ptr<sqlite3_stmt, FreedBy<sqlite3_finalize>>;

/// An open database with all tables in it, empty at first but for the documentation. What is
/// written is kept by commit().
class SqlDatabase {
 public:
  /// Makes the file, which must not hold anything yet. An empty path: a temporary database, in
  /// memory and, where it gets large, in a file that goes away with it. Throws Error.
  explicit SqlDatabase(const std::string& path);
  SqlDatabase(const SqlDatabase&) = delete;
  SqlDatabase& operator=(const SqlDatabase&) = delete;

  /// Writes the rows that `each_row` hands on, with a cell for each column, into the table. Throws
  /// Error if there is no room for one.
  void insert(const TableKind& table, const std::function<void(const RowTaker& take)>& each_row);

  /// Makes the indexes and ends the writing.
  void commit();

 private:
  friend class SqlQuestion;

  void run(const std::string& statements);
  [[noreturn]] void fail(const char* hint = "") const;

  std::unique_ptr<sqlite3, FreedBy<sqlite3_close>> handle_;
  std::string path_;
};

/// One statement that reads. The database must outlive it, and may be filled between making and
/// asking it.
class SqlQuestion {
 public:
  /// Throws Error if the statement is none, is not one, or does more than read.
  SqlQuestion(SqlDatabase& database, const std::string& sql);
  SqlQuestion(const SqlQuestion&) = delete;
  SqlQuestion& operator=(const SqlQuestion&) = delete;

  /// Of the answer; different from each other.
  const std::vector<std::string>& columns() const { return columns_; }

  /// The tables that it may read: those whose names stand in it.
  const std::vector<const TableKind*>& tables() const { return tables_; }

  /// Hands on the rows of the answer. Throws Error if the statement fails, or takes more than
  /// kMaxSteps steps of SQLite's machine.
  void each_row(const RowTaker& take);

  static constexpr int64_t kMaxSteps = 20'000'000'000;

 private:
  static int count_steps(void* question);

  void name_columns();

  SqlDatabase& database_;
  SqlStatement statement_;
  std::vector<std::string> columns_;
  std::vector<const TableKind*> tables_;
  int64_t steps_ = 0;
};

}  // namespace ncclog
