#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/tables/table.h"

namespace ncclog {
namespace {

/// The same with rows that are made while they are written.
Table stream_of(const Table& table) {
  return {.name = table.name,
          .columns = table.columns,
          .rows = {},
          .notes = table.notes,
          .further = [&table](const RowTaker& take) { table.each_row(take); }};
}

TEST(TableStream, WritesWhatATableWouldBe) {
  const Table rows[] = {
      {.name = "count",
       .columns = {"iteration", "calls"},
       .rows = {{std::string("1-3, \"x\"\n"), int64_t{7}}, {Cell(), std::string("\xff")}},
       .notes = {"One.", "Two \"quoted\"."}},
      {.name = "count", .columns = {"op"}, .rows = {}, .notes = {"No calls."}},
      {.name = "count", .columns = {"op"}, .rows = {{std::string("AllReduce")}}, .notes = {}},
  };
  for (const Table& table : rows) {
    for (const auto write : {write_table_csv, write_table_json, write_table_jsonl}) {
      EXPECT_EQ(written(write, stream_of(table)), written(write, table));
    }
  }
}

TEST(TableStream, StopsWhereNobodyReadsOn) {
  const Table table{.name = "count",
                    .columns = {"op"},
                    .rows = {{std::string("AllReduce")}, {std::string("Broadcast")}},
                    .notes = {}};
  for (const auto write : {write_table_csv, write_table_json}) {
    int pieces = 0;
    write(stream_of(table), [&pieces](std::string_view) { return ++pieces < 2; });
    EXPECT_EQ(pieces, 2);
  }
}

TEST(TableStream, KeepsAsManyRowsAsAreWanted) {
  const Table table{.name = "answer",
                    .columns = {"op"},
                    .rows = {{std::string("AllReduce")}, {std::string("Broadcast")}},
                    .notes = {}};
  Table all = stream_of(table);
  EXPECT_TRUE(all.keep_rows(2));
  EXPECT_EQ(all.rows, table.rows);
  Table first = stream_of(table);
  EXPECT_FALSE(first.keep_rows(1));
  EXPECT_EQ(first.rows.size(), 1u);
}

}  // namespace
}  // namespace ncclog
