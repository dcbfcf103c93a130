#include "report/html/html_text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/markup_check.h"

namespace ncclog {
namespace {

struct MarkupRow {
  std::string bytes;
  std::string markup;
};

const MarkupRow kMarkup[] = {
    {"", ""},
    {"gpu-node-01", "gpu-node-01"},
    {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
    {"a & b &lt;", "a &amp; b &amp;lt;"},
    {"\"' onload='x", "&quot;&#39; onload=&#39;x"},
    {"]]>-->", "]]&gt;--&gt;"},
    {"a\tb", "a b"},
    {"\x1b[31mred\r\n", "\\x1b[31mred\\x0d\\x0a"},
    {std::string("nul\0nul", 7), "nul\\x00nul"},
    {"\xff\xc3(", "\xEF\xBF\xBD\xEF\xBF\xBD("},
    {"\u202eevil\u2066", "\\u{202e}evil\\u{2066}"},
    {"\uFFFE\uFFFF\uFFFD", "\\u{fffe}\\u{ffff}\uFFFD"},
    {"größer 東京 🙂", "größer 東京 🙂"},
    {"\u05d0\u05d1:1", "<bdi>\u05d0\u05d1:1</bdi>"},
    {"\u0627\u0644", "<bdi>\u0627\u0644</bdi>"},
    {"\ufb20 \ufe8d", "<bdi>\ufb20 \ufe8d</bdi>"},
    {"\ufb01 \ufe30", "\ufb01 \ufe30"},
};

TEST(HtmlText, EscapesWhateverALogHolds) {
  for (const MarkupRow& row : kMarkup)
    EXPECT_EQ(html_text(row.bytes).bytes(), row.markup) << row.bytes;
}

TEST(HtmlText, LongTextsAreCutBetweenCharactersAndSaySo) {
  EXPECT_EQ(html_text("aaaa", 4).bytes(), "aaaa");
  EXPECT_EQ(html_text("aaaab", 4).bytes(), "aaaa<span class=\"cut\">… (1 more bytes)</span>");
  EXPECT_EQ(html_text("aaaöö", 4).bytes(), "aaa<span class=\"cut\">… (4 more bytes)</span>");
  EXPECT_EQ(plain_text("aaaab", 4).bytes(), "aaaa…");
  const std::string word(100'000, 'x');
  EXPECT_LT(html_text(word).bytes().size(), 5000u);
  EXPECT_LT(html_element("p", {{"title", word}}).bytes().size(), 5000u);
}

TEST(HtmlText, AttributesEscapeTheirValues) {
  EXPECT_EQ(html_element("td", {{"title", "\"><b>\n"}}, html_text("x")).bytes(),
            "<td title=\"&quot;&gt;&lt;b&gt;\\x0a\">x</td>");
}

const MarkupRow kSourceRows[] = {
    {"NVIDIA/nccl#331",
     "<a href=\"https://github.com/NVIDIA/nccl/issues/331\" "
     "rel=\"noreferrer\">NVIDIA/nccl#331</a>"},
    {"connect(2)",
     "<a href=\"https://man7.org/linux/man-pages/man2/connect.2.html\" "
     "rel=\"noreferrer\">connect(2)</a>"},
    {"NCCL source, src/proxy.cc",
     "<a href=\"https://github.com/NVIDIA/nccl\" rel=\"noreferrer\">NCCL source, "
     "src/proxy.cc</a>"},
    {"NCCL source <b>",
     "<a href=\"https://github.com/NVIDIA/nccl\" rel=\"noreferrer\">NCCL source &lt;b&gt;</a>"},
    {"A book", "A book"},
    {"javascript:x", "javascript:x"},
    {"https://example.com/", "https://example.com/"},
    {"../../evil#1", "../../evil#1"},
    {"a/b#1 onclick=x", "a/b#1 onclick=x"},
};

TEST(HtmlText, OnlyKnownSourcesBecomeLinks) {
  for (const MarkupRow& row : kSourceRows) {
    EXPECT_EQ(html_source(row.bytes).bytes(), row.markup) << row.bytes;
    EXPECT_EQ(testing::markup_faults("<p>" + row.markup + "</p>"), "") << row.bytes;
  }
}

TEST(HtmlText, OnlyElementsWithoutContentHaveNoEndTag) {
  EXPECT_EQ(html_element("meta", {{"charset", "utf-8"}}).bytes(), "<meta charset=\"utf-8\"/>");
  EXPECT_EQ(html_element("td", {}).bytes(), "<td></td>");
  EXPECT_EQ(html_element("rect", {}, html_element("title", {}, html_text("a"))).bytes(),
            "<rect><title>a</title></rect>");
}

TEST(MarkupCheck, FindsWhatDoesNotBelongThere) {
  using testing::markup_faults;
  EXPECT_EQ(markup_faults("<p>a</p>"), "");
  EXPECT_EQ(markup_faults("<p><img src=\"x\"/></p>"), "element img\nattribute src\n");
  EXPECT_EQ(markup_faults("<a href=\"https://example.com\">a</a>"),
            "leads to https://example.com\n");
  EXPECT_NE(markup_faults("<p onclick=\"x\">a</p>"), "");
  EXPECT_NE(markup_faults("<p>a<br></p>"), "");
  EXPECT_NE(markup_faults("<p>\x01</p>"), "");
  EXPECT_EQ(testing::text_in("<p>a<b>b &lt;</b></p>", "b"), "b <");
}

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
