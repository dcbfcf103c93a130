#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/tables/table.h"

namespace ncclog {
namespace {

TableStream stream_of(const Table& table) {
  return {table.name, table.columns, table.notes, [&table](const RowTaker& take) {
            for (const auto& row : table.rows) {
              if (!take(row)) return;
            }
          }};
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
    std::string csv;
    std::string json;
    const auto to = [](std::string& text) {
      return [&text](std::string_view piece) {
        text += piece;
        return true;
      };
    };
    write_stream_csv(stream_of(table), to(csv));
    write_stream_json(stream_of(table), to(json));
    EXPECT_EQ(csv, write_table_csv(table));
    EXPECT_EQ(json, write_table_json(table));
  }
}

TEST(TableStream, StopsWhereNobodyReadsOn) {
  const Table table{.name = "count",
                    .columns = {"op"},
                    .rows = {{std::string("AllReduce")}, {std::string("Broadcast")}},
                    .notes = {}};
  for (const auto write : {write_stream_csv, write_stream_json}) {
    int pieces = 0;
    write(stream_of(table), [&pieces](std::string_view) { return ++pieces < 2; });
    EXPECT_EQ(pieces, 2);
  }
}

}  // namespace
}  // namespace ncclog
