#include <gtest/gtest.h>

#include "rules/pattern.h"

namespace ncclog::testing {
namespace {

struct Row {
  const char* pattern;
  const char* literal;
};

constexpr Row kRows[] = {
    {"NCCL WARN .*Cannot get incoming CPU", "Cannot get incoming CPU"},
    {"plain", "plain"},
    {"^anchored text$", "anchored text"},
    {"colou?r of it", "r of it"},
    {"abc*def", "def"},
    {"ab+cd", "ab"},
    {"a|b", ""},
    {"(accept|connect) refused", " refused"},
    {"before (x|y)? after", "before "},
    {"x{2,3}yz", "yz"},
    {"[a|b]rest", "rest"},
    {"[]a]rest", "rest"},
    {"[^]a]rest", "rest"},
    {"a\\.b\\|c", "a.b|c"},
    {"\\d+ bytes", " bytes"},
    {"(?i)case", ""},
    {"rail (?P<rail>[0-9]+) is down", " is down"},
    {"(?:get|set) refused", " refused"},
    {"(?i:case) refused", ""},
    {"(?P<a>x)(?i)case", ""},
    {"\\x41bcdef", ""},
    {"\\pNabc", ""},
    {"", ""},
};

TEST(RequiredLiteral, IsPartOfEveryMatchOrEmpty) {
  for (const Row& row : kRows) EXPECT_EQ(required_literal(row.pattern), row.literal) << row.pattern;
}

}  // namespace
}  // namespace ncclog::testing
