#include "report/sql/sql_database.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ncclog {
namespace {

constexpr int kFormatVersion = 2;  ///< Another one whenever a table changes its columns.

std::string create_statement(const TableKind& table) {
  std::string columns;
  for (const Column& column : table.columns) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.sql_name(), column.type);
  }
  std::string statements = fmt::format("CREATE TABLE {}({});\n", table.sql_name(), columns);
  if (!table.older_name.empty()) {
    statements +=
        fmt::format("CREATE VIEW {} AS SELECT * FROM {};\n", table.older_name, table.sql_name());
  }
  return statements;
}

std::string index_statements(const TableKind& table) {
  std::string statements;
  int number = 0;
  for (const std::string_view columns : table.indexes) {
    if (columns.empty()) break;
    statements +=
        fmt::format("CREATE INDEX {0}_{1} ON {0}({2});\n", table.sql_name(), ++number, columns);
  }
  return statements;
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
  for (const TableKind& table : all_tables()) statements += create_statement(table);
  run(statements);
  insert(documentation_table(), each_documentation_row);
}

void SqlDatabase::fail(const char* hint) const {
  throw Error(std::string("cannot write the database: ") + sqlite3_errmsg(handle_.get()), path_,
              hint);
}

void SqlDatabase::run(const std::string& statements) {
  const int done = sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr);
  if (done != SQLITE_OK) fail();
}

void SqlDatabase::insert(const TableKind& table,
                         const std::function<void(const RowTaker& take)>& each_row) {
  std::string holes = "?";
  for (size_t c = 1; c < table.columns.size(); ++c) holes += ",?";
  const std::string sql = fmt::format("INSERT INTO {} VALUES({})", table.sql_name(), holes);
  sqlite3_stmt* row = nullptr;
  const int prepared = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &row, nullptr);
  const SqlStatement statement(row);
  if (prepared != SQLITE_OK) fail();
  each_row([&](std::span<const Cell> cells) {
    bool done = true;
    for (size_t c = 0; c < cells.size(); ++c) {
      done = done && bind_cell(row, static_cast<int>(c + 1), cells[c]) == SQLITE_OK;
    }
    done = done && sqlite3_step(row) == SQLITE_DONE;
    if (!done) fail("SQLITE_TMPDIR names a folder with more room");
    sqlite3_reset(row);
    return true;
  });
}

void SqlDatabase::commit() {
  std::string statements;
  for (const TableKind& table : all_tables()) statements += index_statements(table);
  run(statements + "COMMIT;");
}

// The asking half of report/sql/sql_database.h: what may be asked, and what is said of mistakes.

namespace {

constexpr int kStepsAtOnce = 1'000'000;

/// The tables whose names stand in the statement. SQLite does not tell which it reads: of a join by
/// USING it names one side only.
std::vector<const TableKind*> named_tables(std::string_view sql) {
  std::vector<const TableKind*> tables;
  for (size_t at = 0; at < sql.size();) {
    const size_t begin = at;
    while (at < sql.size() && is_word(sql[at])) ++at;
    const TableKind* table = find_sql_table(sql.substr(begin, at - begin));
    if (table != nullptr && std::ranges::find(tables, table) == tables.end()) {
      tables.push_back(table);
    }
    if (at == begin) ++at;
  }
  return tables;
}

/// SQLite asks this about everything that a statement does.
int allow(void*, int action, const char*, const char*, const char*, const char*) {
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ ||
                     action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

/// The columns of the tables that the statement names; of all, if it names none.
std::vector<std::string_view> column_names(std::string_view sql) {
  std::vector<const TableKind*> tables = named_tables(sql);
  if (tables.empty()) {
    for (const TableKind& table : all_tables()) tables.push_back(&table);
  }
  std::vector<std::string_view> names;
  for (const TableKind* table : tables) {
    for (const Column& column : table->columns) names.push_back(column.sql_name());
  }
  return names;
}

/// What may have been meant where `what` ends with a name that nothing has.
std::string name_hint(std::string_view what, std::string_view sql) {
  constexpr std::string_view kNoTable = "no such table: ";
  constexpr std::string_view kNoColumn = "no such column: ";
  const bool table = what.starts_with(kNoTable);
  if (!table && !what.starts_with(kNoColumn)) {
    return "'ncclog export --tables' lists tables and columns";
  }
  std::string_view name = what.substr(table ? kNoTable.size() : kNoColumn.size());
  if (const size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  std::vector<std::string> tables;
  for (const TableKind& kind : all_tables()) tables.push_back(kind.sql_name());
  const std::vector<std::string_view> names =
      table ? std::vector<std::string_view>(tables.begin(), tables.end()) : column_names(sql);
  return hint_for(name, names,
                  fmt::format("{}: {}", table ? "tables" : "columns", fmt::join(names, ", ")));
}

Cell cell_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_NULL:
      return {};
    default:
      break;
  }
  const void* bytes = sqlite3_column_blob(statement, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

}  // namespace

SqlQuestion::SqlQuestion(SqlDatabase& database, const std::string& sql) : database_(database) {
  sqlite3* const handle = database.handle_.get();
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  sqlite3_set_authorizer(handle, allow, nullptr);
  const int prepared = sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, &rest);
  statement_.reset(statement);
  const std::string what = sqlite3_errmsg(handle);
#if SQLITE_VERSION_NUMBER >= 3038000  // Ubuntu 22.04 has 3.37.
  const int place = sqlite3_error_offset(handle);
#else
  const int place = -1;
#endif
  sqlite3_set_authorizer(handle, nullptr, nullptr);
  const bool writes = statement_ != nullptr && sqlite3_stmt_readonly(statement) == 0;
  if (prepared == SQLITE_AUTH || writes) {
    throw Error("only statements that read are answered", "--sql", "begin with 'select'");
  }
  if (prepared != SQLITE_OK) {
    const std::string where =
        place < 0 ? std::string("--sql") : fmt::format("--sql, character {}", place + 1);
    throw Error(what, where, name_hint(what, sql));
  }
  if (statement_ == nullptr) throw Error("no statement", "--sql", name_hint("", sql));
  if (trim(rest).find_first_not_of("; \t\r\n") != std::string_view::npos) {
    throw Error("more than one statement", "--sql", "ask one at a time");
  }
  name_columns();
  tables_ = named_tables(sql);
}

int SqlQuestion::count_steps(void* question) {
  auto& self = *static_cast<SqlQuestion*>(question);
  self.steps_ += kStepsAtOnce;
  return self.steps_ > kMaxSteps ? 1 : 0;
}

void SqlQuestion::name_columns() {
  for (int c = 0; c < sqlite3_column_count(statement_.get()); ++c) {
    const std::string name = to_valid_utf8(sqlite3_column_name(statement_.get(), c));
    std::string unique = name;
    for (int n = 2; std::ranges::find(columns_, unique) != columns_.end(); ++n) {
      unique = fmt::format("{}_{}", name, n);
    }
    columns_.push_back(std::move(unique));
  }
}

void SqlQuestion::each_row(const RowTaker& take) {
  sqlite3_progress_handler(database_.handle_.get(), kStepsAtOnce, count_steps, this);
  std::vector<Cell> cells(columns_.size());
  int status = sqlite3_step(statement_.get());
  for (bool wanted = true; wanted && status == SQLITE_ROW;) {
    for (size_t c = 0; c < cells.size(); ++c) {
      cells[c] = cell_of(statement_.get(), static_cast<int>(c));
    }
    wanted = take(cells);
    if (wanted) status = sqlite3_step(statement_.get());
  }
  const std::string what = sqlite3_errmsg(database_.handle_.get());
  sqlite3_progress_handler(database_.handle_.get(), 0, nullptr, nullptr);
  if (status == SQLITE_INTERRUPT) {
    throw Error(fmt::format("gave up after {} steps", kMaxSteps), "--sql",
                "does a join lack its condition, or a recursion its end?");
  }
  if (status != SQLITE_ROW && status != SQLITE_DONE) throw Error(what, "--sql");
}

}  // namespace ncclog
