#include <gtest/gtest.h>

#include "report/document/document.h"
#include "support/markdown_check.h"

namespace ncclog {
namespace {

struct MarkdownRow {
  std::string_view text;
  std::string_view line;
  std::string_view cell;
};

TEST(MarkdownText, StandsAsWhatItIs) {
  const MarkdownRow rows[] = {
      {"", "", ""},
      {"  plain words.  ", "plain words.", "plain words."},
      {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;",
       "&lt;script&gt;alert(1)&lt;/script&gt;"},
      {"a && b &lt; c", "a &amp;&amp; b &amp;lt; c", "a &amp;&amp; b &amp;lt; c"},
      {"x | y", "x \\| y", "x &#124; y"},
      {"**bold** ~~gone~~", "\\*\\*bold\\*\\* \\~\\~gone\\~\\~",
       "\\*\\*bold\\*\\* \\~\\~gone\\~\\~"},
      {"[text](/x) ![i](/y)", "\\[text\\](/x) !\\[i\\](/y)", "\\[text\\](/x) !\\[i\\](/y)"},
      {"tell @ops, now", "tell `@ops`, now", "tell `@ops`, now"},
      {"(see #12)", "(see `#12`)", "(see `#12`)"},
      {"fixed by GH-7 gh-8", "fixed by `GH-7` `gh-8`", "fixed by `GH-7` `gh-8`"},
      {"http://x.y/z.", "`http://x.y/z`.", "`http://x.y/z`."},
      {"www.x.y", "`www.x.y`", "`www.x.y`"},
      {"me@x.y", "`me@x.y`", "`me@x.y`"},
      {"costs $5 or $6$", "costs `$5` or `$6$`", "costs `$5` or `$6$`"},
      {":tada: :100: 10:11:12 a:b", "`:tada`: `:100`: 10:11:12 a:b",
       "`:tada`: `:100`: 10:11:12 a:b"},
      {"NCCL_IB_HCA=mlx5_0", "`NCCL_IB_HCA=mlx5_0`", "`NCCL_IB_HCA=mlx5_0`"},
      {"C:\\temp", "`C:\\temp`", "`C:\\temp`"},
      {"(deadbee1) 1048576 0xdeadbee1", "(`deadbee1`) 1048576 0xdeadbee1",
       "(`deadbee1`) 1048576 0xdeadbee1"},
      {"call a_b(), (c_d)", "call `a_b()`, (`c_d`)", "call `a_b()`, (`c_d`)"},
      {"a@b|c@d", "`a@b|c@d`", "`a@b`&#124;`c@d`"},
      {"run `df -h | wc` now", "run `df -h | wc` now", "run `df -h `&#124;` wc` now"},
      {"one ` alone", "one `` ` `` alone", "one `` ` `` alone"},
      {"``` x", "```` ``` ```` x", "```` ``` ```` x"},
      {"`a``b`", "`a` `b`", "`a` `b`"},
      {"`a`@b", "`a` `@b`", "`a` `@b`"},
      {"- item", "\\- item", "- item"},
      {"+ item", "\\+ item", "+ item"},
      {"12. item", "12\\. item", "12. item"},
      {"1) item", "1\\) item", "1) item"},
      {"1.5 times", "1\\.5 times", "1.5 times"},
      {"===", "\\===", "==="},
      {"# title", "`#` title", "`#` title"},
      {"> quote", "&gt; quote", "&gt; quote"},
      {"two\nlines", "`two\\x0alines`", "`two\\x0alines`"},
      {"\x1b[31mred", "`\\x1b[31mred`", "`\\x1b[31mred`"},
      {"a\u202eb \u200b", "`a\\u{202e}b` `\\u{200b}`", "`a\\u{202e}b` `\\u{200b}`"},
      {"\xff\xfe", "��", "��"},
      {"größer → █", "größer → █", "größer → █"},
  };
  for (const MarkdownRow& row : rows) {
    EXPECT_EQ(markdown_text(row.text), row.line) << row.text;
    EXPECT_EQ(markdown_cell(row.text), row.cell) << row.text;
  }
}

TEST(MarkdownCode, HoldsAnyText) {
  EXPECT_EQ(markdown_code("df -h"), "`df -h`");
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
  EXPECT_EQ(markdown_code("<b>&amp;"), "`<b>&amp;`");
  EXPECT_EQ(markdown_cell("`a|b`"), "`a`&#124;`b`");
  EXPECT_EQ(markdown_cell("`|`"), "&#124;");
  EXPECT_EQ(markdown_code(" "), "");
}

TEST(MarkdownFence, IsLongerThanAnyInItsLines) {
  const std::vector<std::string> plain = {"a.log:1", "  <b>\x1b"};
  EXPECT_EQ(markdown_fence(plain, "text"), "```text\na.log:1\n  <b>\\x1b\n```\n");
  const std::vector<std::string> hostile = {"````", "x\n```"};
  EXPECT_EQ(markdown_fence(hostile, ""), "`````\n````\nx\\x0a```\n`````\n");
}

TEST(Shortened, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("0123456789", 4), "01 … 89");
  EXPECT_EQ(shortened("äääääääää", 5), "ä … ä");
  EXPECT_EQ(shortened("a\xff", 10), "a�");
  EXPECT_LE(shortened(std::string(100'000, 'x'), 100).size(), 110U);
}

/// All texts of a few characters that mean something: none becomes markup, anywhere.
TEST(MarkdownText, IsInertForAllShortTexts) {
  constexpr std::string_view kMarks = "`|<@#a1 _*\\:.[&$-";
  for (size_t n = 0; n < kMarks.size() * kMarks.size() * kMarks.size() * kMarks.size(); ++n) {
    std::string text;
    for (size_t rest = n, i = 0; i < 4; ++i, rest /= kMarks.size()) {
      text += kMarks[rest % kMarks.size()];
    }
    const std::string line = "x " + markdown_text(text);
    const std::string row = "| a |\n| --- |\n| " + markdown_cell(text) + " |";
    for (const std::string& markdown : {line, row}) {
      const auto complaints = testing::check_markdown(markdown);
      ASSERT_TRUE(complaints.empty()) << text << "\n" << markdown << "\n" << complaints.front();
    }
  }
}

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
