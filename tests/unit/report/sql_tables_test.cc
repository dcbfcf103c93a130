#include "report/sql/sql_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/tables/tables.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

std::vector<std::string> column_names(const SqlTable& table) {
  std::vector<std::string> names;
  for (const SqlColumn& column : table.columns) names.emplace_back(column.name);
  return names;
}

TEST(SqlTables, NamesAreUniqueAndEverythingIsDescribed) {
  std::set<std::string_view> tables;
  for (const SqlTable& table : sql_tables()) {
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.help.empty()) << table.name;
    std::set<std::string_view> columns;
    for (const SqlColumn& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.meaning.empty()) << table.name << "." << column.name;
      EXPECT_TRUE(column.type == "TEXT" || column.type == "INTEGER" || column.type == "REAL");
    }
  }
}

TEST(SqlTables, RowsHaveACellForEachColumn) {
  const Report report = testing::sample_report();
  for (const SqlTable& table : sql_tables()) {
    if (table.each_row == nullptr) continue;
    table.each_row(report, [&](std::span<const Cell> cells) {
      EXPECT_EQ(cells.size(), table.columns.size()) << table.name;
      return true;
    });
  }
}

/// The table's name in SQL: "nccl-tests" is nccl_tests.
std::string sql_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TEST(SqlTables, HaveTheColumnsOfShowUnderNamesThatSqlTakes) {
  const std::map<std::string, std::string> kRenamed = {
      {"of", "of_what"}, {"on", "hangs_on"}, {"check", "verdict"}, {"group", "process_group"}};
  const Job job;
  for (const TableKind& kind : table_kinds()) {
    const SqlTable* table = find_sql_table(sql_name(std::string(kind.name)));
    ASSERT_NE(table, nullptr) << kind.name;
    std::vector<std::string> columns = kind.build(job).columns;
    for (std::string& column : columns) {
      const auto renamed = kRenamed.find(column);
      if (renamed != kRenamed.end()) column = renamed->second;
    }
    EXPECT_EQ(column_names(*table), columns) << kind.name;
  }
  EXPECT_EQ(column_names(*find_sql_table("connections")), connections_table(job).columns);
}

TEST(SqlTables, AreFoundInAnyCase) {
  EXPECT_EQ(find_sql_table("Findings"), find_sql_table("findings"));
  EXPECT_EQ(find_sql_table("finding"), nullptr);
}

TEST(SqlTables, DocumentationFitsTheWidth) {
  const std::string text = sql_tables_text(80);
  EXPECT_NE(text.find("findings          what the rules found\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  severity        TEXT     error, warning, info\n"), std::string::npos);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(display_width(std::string_view(text).substr(at, end - at)), 80);
    at = end + 1;
  }
}

}  // namespace
}  // namespace ncclog
