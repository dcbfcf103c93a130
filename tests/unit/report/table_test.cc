#include "report/tables/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
            "10,b,,evil\x1b[2J\uFFFD\n");
}

TEST(Table, CellsAreEmptyForTheModelsUnknowns) {
  EXPECT_EQ(number_cell(-1), Cell());
  EXPECT_EQ(number_cell(0), Cell(int64_t{0}));
  EXPECT_EQ(text_cell(""), Cell());
  EXPECT_EQ(text_cell("x"), Cell("x"));
}

}  // namespace
}  // namespace ncclog
