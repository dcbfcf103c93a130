#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/tables/tables.h"
#include "support/sample_report.h"

namespace ncclog {
namespace {

TEST(TableKinds, NamesAreUniqueAndEverythingIsDescribed) {
  std::set<std::string_view> tables;
  for (const TableKind& table : all_tables()) {
    EXPECT_TRUE(tables.insert(table.name).second) << table.name;
    EXPECT_EQ(find_sql_table(table.sql_name()), &table);
    EXPECT_FALSE(table.help.empty()) << table.name;
    std::set<std::string_view> columns;
    std::set<std::string_view> sql_columns;
    for (const Column& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_TRUE(sql_columns.insert(column.sql_name()).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.help.empty()) << table.name << "." << column.name;
      EXPECT_TRUE(column.type == "TEXT" || column.type == "INTEGER" || column.type == "REAL");
    }
  }
}

TEST(TableKinds, RowsHaveACellForEachColumn) {
  const Report report = testing::sample_report();
  for (const TableKind& table : all_tables()) {
    table.each_row(report, [&](std::span<const Cell> cells) {
      EXPECT_EQ(cells.size(), table.columns.size()) << table.name;
      return true;
    });
  }
}

TEST(TableKinds, OfShowHaveNamesThatSqlTakes) {
  const std::map<std::string_view, std::string_view> kRenamed = {
      {"of", "of_what"}, {"on", "hangs_on"}, {"check", "verdict"}, {"group", "process_group"}};
  for (const TableKind& kind : table_kinds()) {
    EXPECT_EQ(kind.sql_name().find('-'), std::string::npos) << kind.name;
    EXPECT_EQ(kind.sql_help(), "as 'show " + std::string(kind.name) + "'");
    const Table table = kind.build({});
    EXPECT_TRUE(std::ranges::equal(table.columns, kind.columns, {}, {}, &Column::name));
    for (const Column& column : kind.columns) {
      const auto renamed = kRenamed.find(column.name);
      EXPECT_EQ(column.sql_name(), renamed == kRenamed.end() ? column.name : renamed->second);
    }
  }
}

TEST(TableKinds, AreFoundInAnyCase) {
  EXPECT_EQ(find_sql_table("Findings"), find_sql_table("findings"));
  EXPECT_EQ(find_sql_table("finding"), nullptr);
}

TEST(TableKinds, DocumentationFitsTheWidth) {
  const std::string text = tables_text(80);
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
