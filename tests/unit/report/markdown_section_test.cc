#include <gtest/gtest.h>

#include "report/document/markdown.h"

namespace ncclog {
namespace {

TEST(Fitted, SaysHowManyPiecesAreLeftOut) {
  const std::vector<std::string> pieces = {"- a\n", "- bb\n", "- c\n"};
  EXPECT_EQ(fitted(pieces, 13), "- a\n- bb\n- c\n");
  EXPECT_EQ(fitted(pieces, 12), "- a\n- bb\n\n1 more is left out here.\n");
  EXPECT_EQ(fitted(pieces, 0), "\n3 more are left out here.\n");
  EXPECT_EQ(fitted({}, 0), "");
}

TEST(Fitted, ALargePieceHidesNoSmallOnes) {
  const std::vector<std::string> pieces = {std::string(100, 'x') + "\n", "- a\n"};
  EXPECT_EQ(fitted(pieces, 20), "- a\n\n1 more is left out here.\n");
}

TEST(MarkdownTable, HasACellForEachColumnThatHoldsSomething) {
  const Table table{.name = "t",
                    .columns = {"rank", "last_host", "pid"},
                    .rows = {{number_cell(3), text_cell("a|b"), {}}, {{}, text_cell("c"), {}}},
                    .notes = {}};
  EXPECT_EQ(markdown_table(table, 1000),
            "| rank | last host |\n| --- | --- |\n| 3 | a&#124;b |\n|  | c |\n");
  EXPECT_EQ(markdown_table({.name = "t", .columns = {"a"}, .rows = {}, .notes = {}}, 9), "");
}

TEST(MarkdownTable, KeepsItsRoomAndSaysWhatItLeavesOut) {
  Table table{.name = "t", .columns = {"n", "text"}, .rows = {}, .notes = {}};
  for (int n = 0; n < 1000; ++n) {
    table.rows.push_back({number_cell(n), text_cell(std::string(100'000, '<'))});
  }
  const std::string markdown = markdown_table(table, 5000);
  EXPECT_LT(markdown.size(), 5100U);
  EXPECT_GT(markdown.size(), 4000U);
  EXPECT_TRUE(markdown.ends_with(" more are left out here.\n")) << markdown;
}

}  // namespace
}  // namespace ncclog
