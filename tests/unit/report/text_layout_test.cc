#include "report/text_layout.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

using Lines = std::vector<std::string>;

TEST(TextLayout, CountsColumnsNotBytes) {
  struct Row {
    const char* text;
    int width;
  };
  constexpr Row kRows[] = {{"", 0},         {"rank 3", 6}, {"größer", 6},
                           {"…", 1},        {"日本", 4},   {"e\xCC\x81", 1},
                           {"a\u200Bb", 2}, {"\uFFFD", 1}, {"\U0001F600", 2}};
  for (const Row& row : kRows) EXPECT_EQ(display_width(row.text), row.width) << row.text;
}

TEST(TextLayout, ClipsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(clip("abcdef", 6), "abcdef");
  EXPECT_EQ(clip("abcdef", 5), "abcd…");
  EXPECT_EQ(clip("日本語", 5), "日本…");
  EXPECT_EQ(clip("日本語", 4), "日…");
  EXPECT_EQ(clip("ab", 1), "…");
  EXPECT_EQ(clip("ab", 0), "");
}

TEST(TextLayout, KeepsWordsInTheMiddle) {
  constexpr const char* kLine =
      "completion of work 7 on rail 3 failed for LATE_REPLY while the ring went on";
  EXPECT_EQ(clip_middle(kLine, 50), "completion of work 7 … while the ring went on");
  EXPECT_EQ(clip_middle(kLine, 50, "LATE_REPLY"), "completion of … LATE_REPLY … the ring went on");
  EXPECT_EQ(clip_middle(kLine, 50, "went on"), "completion of work 7 … while the ring went on");
  EXPECT_EQ(clip_middle(kLine, 20, "LATE_REPLY"), clip_middle(kLine, 20)) << "no room beside it";
}

TEST(TextLayout, PadsToColumns) {
  EXPECT_EQ(pad("日", 4), "日  ");
  EXPECT_EQ(pad("long", 2), "long");
}

TEST(TextLayout, WrapsAtBlanks) {
  EXPECT_EQ(wrap("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrap("one\ntwo", 80), (Lines{"one", "two"}));
  EXPECT_EQ(wrap("", 80), Lines{""});
  EXPECT_EQ(wrap("  a   b  ", 80), Lines{"a b"});
}

TEST(TextLayout, NeverBreaksWordsOrCommands) {
  EXPECT_EQ(wrap("set NCCL_SOCKET_IFNAME=eth0 now", 10),
            (Lines{"set", "NCCL_SOCKET_IFNAME=eth0", "now"}));
  EXPECT_EQ(wrap("run `docker run --shm-size=1g` again", 14),
            (Lines{"run", "`docker run --shm-size=1g`", "again"}));
  EXPECT_EQ(wrap("a lone ` is text", 8), (Lines{"a lone `", "is text"}));
}

TEST(TextLayout, HangsFurtherLinesUnderTheText) {
  const TextStyle style{.width = 40};
  EXPECT_EQ(hang("  fix     ", "Run the container with --shm-size=1g or more.", style),
            "  fix     Run the container with\n"
            "          --shm-size=1g or more.\n");
}

TEST(TextLayout, KeepsAReadableWidthOnNarrowTerminals) {
  EXPECT_EQ(hang("", "0123456789 0123456789 0123456789 01234567", {.width = 5}),
            "0123456789 0123456789 0123456789\n01234567\n");
}

TEST(TextLayout, PaintsOnlyWhereColourIsWanted) {
  EXPECT_EQ(paint("x", Tone::Error, {.colour = false}), "x");
  EXPECT_EQ(paint("x", Tone::Error, {.colour = true}), "\x1b[1;31mx\x1b[0m");
  EXPECT_EQ(paint("x", Tone::Plain, {.colour = true}), "x");
}

}  // namespace
}  // namespace ncclog
