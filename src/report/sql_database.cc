#include "report/sql_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

constexpr int kFormatVersion = 1;  ///< Another one whenever a table changes its columns.

std::string create_statement(const SqlTable& table) {
  std::string columns;
  for (const SqlColumn& column : table.columns) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.name, column.type);
  }
  return fmt::format("CREATE TABLE {}({});\n", table.name, columns);
}

std::string index_statements(const SqlTable& table) {
  std::string statements;
  int number = 0;
  for (const std::string_view columns : table.indexes) {
    statements += fmt::format("CREATE INDEX {0}_{1} ON {0}({2});\n", table.name, ++number, columns);
  }
  return statements;
}

std::string insert_statement(const SqlTable& table) {
  std::string holes = "?";
  for (size_t c = 1; c < table.columns.size(); ++c) holes += ",?";
  return fmt::format("INSERT INTO {} VALUES({})", table.name, holes);
}

int bind_cell(sqlite3_stmt* statement, int column, const Cell& cell) {
  if (const auto* number = std::get_if<int64_t>(&cell)) {
    return sqlite3_bind_int64(statement, column, *number);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return sqlite3_bind_double(statement, column, *real);
  }
  if (const auto* bytes = std::get_if<std::string>(&cell)) {
    const std::string text = to_valid_utf8(*bytes);
    return sqlite3_bind_text64(statement, column, text.data(), text.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, column);
}

}  // namespace

void CloseSqlDatabase::operator()(sqlite3* database) const { sqlite3_close(database); }

void CloseSqlStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

SqlDatabase::SqlDatabase(const std::string& path) : path_(path) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, kFlags, nullptr);
  handle_.reset(handle);
  if (opened != SQLITE_OK) {
    throw Error(std::string("cannot make the database: ") + sqlite3_errmsg(handle), path);
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  std::string statements = fmt::format(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA user_version = {}; BEGIN;\n",
      kFormatVersion);
  for (const SqlTable& table : sql_tables()) statements += create_statement(table);
  run(statements);
  SqlInsert insert(*this, sql_documentation_table());
  each_documentation_row([&](std::span<const Cell> cells) {
    insert.add(cells);
    return true;
  });
}

void SqlDatabase::run(const std::string& statements) {
  if (sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK)
    return;
  throw Error(std::string("cannot write the database: ") + sqlite3_errmsg(handle_.get()), path_);
}

void SqlDatabase::fill(const SqlTable& table, const Report& report) {
  if (table.each_row == nullptr) return;
  SqlInsert insert(*this, table);
  table.each_row(report, [&](std::span<const Cell> cells) {
    insert.add(cells);
    return true;
  });
}

void SqlDatabase::commit() {
  std::string statements;
  for (const SqlTable& table : sql_tables()) statements += index_statements(table);
  run(statements + "COMMIT;");
}

SqlInsert::SqlInsert(SqlDatabase& database, const SqlTable& table) : database_(database) {
  const std::string sql = insert_statement(table);
  sqlite3* const handle = database.handle_.get();
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr);
  statement_.reset(statement);
  if (prepared != SQLITE_OK) {
    throw Error(std::string("cannot write the database: ") + sqlite3_errmsg(handle),
                database.path_);
  }
}

void SqlInsert::add(std::span<const Cell> cells) {
  bool done = true;
  for (size_t c = 0; c < cells.size(); ++c) {
    done = done && bind_cell(statement_.get(), static_cast<int>(c + 1), cells[c]) == SQLITE_OK;
  }
  done = done && sqlite3_step(statement_.get()) == SQLITE_DONE;
  if (!done) {
    throw Error(
        std::string("cannot write the database: ") + sqlite3_errmsg(database_.handle_.get()),
        database_.path_, "SQLITE_TMPDIR names a folder with more room");
  }
  sqlite3_reset(statement_.get());
}

}  // namespace ncclog
