#include "support/text_diff.h"

#include <gtest/gtest.h>

namespace ncclog::testing {
namespace {

struct DiffRow {
  const char* name;
  const char* expected;
  const char* actual;
  const char* diff;
};

constexpr DiffRow kDiffs[] = {
    {"equal", "a\nb\n", "a\nb\n", ""},
    {"changed line", "a\nb\nc\n", "a\nx\nc\n", "  a\n- b\n+ x\n  c\n"},
    {"added line", "a\n", "a\nb\n", "  a\n+ b\n"},
    {"missing newline", "a\n", "a", "  a\n+ (no newline at the end)\n"},
    {"empty side", "", "a\n", "+ a\n"},
    {"far lines are left out", "1\n2\n3\n4\n5\n6\n7\n", "0\n2\n3\n4\n5\n6\n0\n",
     "- 1\n+ 0\n  2\n  3\n  …\n  5\n  6\n- 7\n+ 0\n"},
};

TEST(TextDiff, ShowsChangedLinesWithTheirNeighbours) {
  for (const DiffRow& row : kDiffs) {
    EXPECT_EQ(text_diff(row.expected, row.actual), row.diff) << row.name;
  }
}

}  // namespace
}  // namespace ncclog::testing
