#include "model/bounded_lines.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

BoundedLines table(std::initializer_list<IndentedLine> lines) {
  BoundedLines table;
  for (const IndentedLine& line : lines) table.add(line.indent, line.text);
  return table;
}

TEST(BoundedLines, GiveBackTheirLinesWithTheirIndents) {
  const std::vector<IndentedLine> lines = {{0, "CPU/0-0 (1/1/2)"}, {14, ""}, {2, "a\nb"}};
  const BoundedLines kept = table({lines[0], lines[1], lines[2]});
  EXPECT_EQ(kept.lines(), lines);
  EXPECT_TRUE(kept.any() && kept.has_lines());
  EXPECT_FALSE(kept.cut());
  EXPECT_TRUE(BoundedLines().lines().empty());
  EXPECT_FALSE(BoundedLines().any());
}

TEST(BoundedLines, KeepTheFirstThatFitWhereverTheyAreCut) {
  const std::string text(1000, 'x');
  constexpr int kLines = 200;
  BoundedLines whole;
  for (int i = 0; i < kLines; ++i) whole.add(i, text);
  ASSERT_TRUE(whole.cut());
  EXPECT_LT(whole.lines().size(), static_cast<size_t>(kLines));
  for (const int cut : {0, 1, 100, 129, 130, 199, kLines}) {
    BoundedLines first;
    BoundedLines second;
    for (int i = 0; i < kLines; ++i) (i < cut ? first : second).add(i, text);
    first.merge(std::move(second));
    EXPECT_EQ(first, whole) << "cut at " << cut;
  }
}

TEST(BoundedLines, DroppedAreCutUnlessThereWereNone) {
  BoundedLines some = table({{0, "a"}});
  some.drop();
  EXPECT_TRUE(some.cut() && some.lines().empty());
  some.add(0, "b");
  EXPECT_FALSE(some.has_lines());
  BoundedLines none;
  none.drop();
  EXPECT_FALSE(none.any());
}

TEST(BoundedLines, ShareTheBytesOfEqualOnesOnly) {
  const BoundedLines known = table({{0, "a"}, {2, "b"}});
  BoundedLines same = table({{0, "a"}, {2, "b"}});
  BoundedLines other = table({{0, "a"}, {3, "b"}});
  EXPECT_TRUE(same.share(known));
  EXPECT_EQ(same.lines()[1].text.data(), known.lines()[1].text.data());
  EXPECT_FALSE(other.share(known));
  EXPECT_EQ(other.lines()[1].indent, 3);
  EXPECT_FALSE(BoundedLines().share(BoundedLines()));
}

TEST(BoundedLines, WhatIsAddedToSharedOnesIsInOneOfThemOnly) {
  const BoundedLines known = table({{0, "a"}});
  BoundedLines same = table({{0, "a"}});
  ASSERT_TRUE(same.share(known));
  same.fit();
  same.add(1, "b");
  EXPECT_EQ(known, table({{0, "a"}}));
  EXPECT_EQ(same, table({{0, "a"}, {1, "b"}}));
}

TEST(BoundedLines, AreEqualOnlyIfBothAreCutOrNeither) {
  BoundedLines cut = table({{0, "a"}});
  cut.add(0, std::string(BoundedLines::kMaxBytes, 'x'));
  EXPECT_EQ(cut.lines().size(), 1u);
  EXPECT_NE(cut, table({{0, "a"}}));
}

}  // namespace
}  // namespace ncclog
