#include "report/tables/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ncclog {
namespace {

Table sample_table() {
  return {.name = "ranks",
          .columns = {"rank", "host", "unused", "last_line"},
          .rows = {{Cell(int64_t{0}), Cell("größe"), Cell(), Cell("said \"ok\", then left")},
                   {Cell(int64_t{10}), Cell("b"), Cell(), Cell("evil\x1b[2J\xff")}},
          .notes = {"One note."}};
}

TEST(Table, TextIsAlignedAndLeavesOutEmptyColumns) {
  Table table = sample_table();
  table.notes.push_back("Another.");
  EXPECT_EQ(write_table_text(table, {}, false),
            "rank  host   last_line\n"
            "   0  größe  said \"ok\", then left\n"
            "  10  b      evil\\x1b[2J\uFFFD\n"
            "\n"
            "One note.\n"
            "Another.\n");
}

TEST(Table, TextIsCutToTheWidthWhereAsked) {
  Table table = sample_table();
  table.notes.clear();
  table.rows[0][3] = std::string(100, 'x');
  EXPECT_EQ(write_table_text(table, {.width = 40}, true),
            "rank  host   last_line\n"
            "   0  größe  xxxxxxxxxxxxxxxxxxxxxxxxxx…\n"
            "  10  b      evil\\x1b[2J\uFFFD\n");
}

TEST(Table, SaysWhichColumnsHaveNoRoom) {
  Table table{.name = "ranks", .columns = {"rank", "bytes", "last_at", "last_line"}};
  table.add(0, 1536, std::string(60, 'x'), "the line");
  table.add(1, 4096, "y", "another");
  EXPECT_EQ(write_table_text(table, {.width = 40}, true),
            "rank   bytes  last_at                  …\n"
            "   0  1.5 kB  xxxxxxxxxxxxxxxxxxxxxxxxx…\n"
            "   1   4 KiB  y                        …\n\n"
            "No room at 40 columns for last_line: '|\nless -S' or --format csv has all.\n");
}

TEST(Table, TextWithoutRowsIsItsNotes) {
  EXPECT_EQ(write_table_text({.name = "env", .columns = {"name"}, .notes = {"Nothing."}}, {}, true),
            "Nothing.\n");
}

TEST(Table, JsonHasNumbersTextsAndNulls) {
  const auto json = nlohmann::json::parse(written(write_table_json, sample_table()));
  EXPECT_EQ(json, nlohmann::json::parse(R"({
    "schema": "ncclog.table/1", "table": "ranks", "notes": ["One note."],
    "rows": [
      {"rank": 0, "host": "größe", "unused": null, "last_line": "said \"ok\", then left"},
      {"rank": 10, "host": "b", "unused": null, "last_line": "evil\u001b[2J\ufffd"}]})"));
}

TEST(Table, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(written(write_table_csv, sample_table()),
            "rank,host,unused,last_line\n"
            "0,größe,,\"said \"\"ok\"\", then left\"\n"
            "10,b,,evil\\x1b[2J\uFFFD\n");
}

TEST(Table, CsvHasNothingThatASpreadsheetRuns) {
  const auto cell = [](Cell value) { return csv_row(std::span(&value, 1)); };
  EXPECT_EQ(cell("=cmd|'/c calc'!A1"), "'=cmd|'/c calc'!A1\n");
  EXPECT_EQ(cell("=HYPERLINK(\"http://x\",1)"), "\"'=HYPERLINK(\"\"http://x\"\",1)\"\n");
  EXPECT_EQ(cell("@SUM(1)"), "'@SUM(1)\n");
  EXPECT_EQ(cell("+1+1"), "'+1+1\n");
  EXPECT_EQ(cell("-1+1"), "'-1+1\n");
  EXPECT_EQ(cell("\t=1+1"), "' =1+1\n");
  EXPECT_EQ(cell("\r=1+1"), "\\x0d=1+1\n");
  EXPECT_EQ(cell("＝1+1"), "'＝1+1\n");
  EXPECT_EQ(cell("-1.5") + cell(int64_t{-2}) + cell(-0.5) + cell("-"), "-1.5\n-2\n-0.5\n-\n");
}

TEST(Table, NoMarkThatTurnsTextIsWrittenRaw) {
  const Table table{.name = "x", .columns = {"a"}, .rows = {{Cell("\u202Eb\x7f\u009b\U000E0041")}}};
  EXPECT_EQ(written(write_table_csv, table), "a\n\\u{202e}b\\x7f\\u{009b}\\u{e0041}\n");
  EXPECT_EQ(written(write_table_jsonl, table),
            "{\"a\":\"\\u202eb\\u007f\\u009b\\udb40\\udc41\"}\n");
  EXPECT_EQ(nlohmann::json::parse(written(write_table_jsonl, table))["a"],
            std::get<std::string>(table.rows[0][0]));
}

TEST(Table, CellsAreEmptyForTheModelsUnknowns) {
  EXPECT_EQ(number_cell(-1), Cell());
  EXPECT_EQ(number_cell(0), Cell(int64_t{0}));
  EXPECT_EQ(text_cell(""), Cell());
  EXPECT_EQ(text_cell("x"), Cell("x"));
}

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
