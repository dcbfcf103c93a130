#include <gtest/gtest.h>

#include <algorithm>

#include "report/html/html_text.h"
#include "support/markup_check.h"

namespace ncclog {
namespace {

Table three_columns(size_t rows) {
  Table table{.name = "ranks", .columns = {"rank", "last_line", "never"}};
  for (size_t r = 0; r < rows; ++r) {
    table.rows.push_back({number_cell(static_cast<int64_t>(r)), text_cell("<b>"), Cell()});
  }
  return table;
}

size_t count(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(HtmlTable, ShowsOnlyColumnsThatSaySomething) {
  const std::string html = html_table(three_columns(1), "ranks").bytes();
  EXPECT_EQ(html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"ranks\">"
            "<table class=\"sortable\"><thead><tr><th scope=\"col\" class=\"num\">rank</th>"
            "<th scope=\"col\">last line</th></tr></thead><tbody>"
            "<tr><th class=\"num\" scope=\"row\">0</th><td>&lt;b&gt;</td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(HtmlTable, ManyRowsCanBeSearched) {
  EXPECT_EQ(count(html_table(three_columns(4), "ranks").bytes(), "type=\"search\""), 0u);
  EXPECT_EQ(count(html_table(three_columns(5), "ranks").bytes(), "type=\"search\""), 1u);
}

TEST(HtmlTable, RowsBeyondTheLimitAreCounted) {
  const std::string html = html_table(three_columns(30), "ranks", 10).bytes();
  EXPECT_EQ(count(html, "scope=\"row\""), 10u);
  EXPECT_NE(html.find("10 of 30 rows are shown; &#39;ncclog show ranks&#39; lists all."),
            html.npos);
}

TEST(HtmlTable, NotesStandBelowEvenWithoutRows) {
  Table table = three_columns(0);
  table.notes = {"No line names a rank or a process."};
  EXPECT_EQ(html_table(table, "ranks").bytes(),
            "<p class=\"quiet\">No line names a rank or a process.</p>");
}

}  // namespace
}  // namespace ncclog
