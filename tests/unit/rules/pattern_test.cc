#include "rules/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ncclog::testing {
namespace {

struct PatternRow {
  const char* pattern;
  std::vector<std::string> texts;
};

const PatternRow kPatterns[] = {
    {"NCCL WARN .*Cannot get incoming CPU", {"Cannot get incoming CPU"}},
    {"plain", {"plain"}},
    {"^anchored text$", {"anchored text"}},
    {"colou?r of it", {"r of it"}},
    {"abc*def", {"def"}},
    {"ab+cd", {"ab"}},
    {"a|b", {}},
    {"one|two", {"one", "two"}},
    {"a|b*", {}},
    {"a||b", {}},
    {"(accept|connect) refused", {" refused"}},
    {"(too long|too short) a?", {"too long", "too short"}},
    {"before (x|y)? after", {"before "}},
    {"to (x|y)z", {"to x", "to y"}},
    {"to (\\d|y)z", {"to "}},
    {"set (one (a|b)|two), three", {"set one a", "set one b", "set two"}},
    {"code [[:digit:]abcdef]+", {"code "}},
    {"code [[:digit:]]abcdefg", {"abcdefg"}},
    {"foo{a|barbarbar}bazbaz", {}},
    {"set (one|two)?, three", {", three"}},
    {"set (one|two)*end", {"set "}},
    {"\\bNCCL_(TIMEOUT|IB_[A-Z]+)=", {"NCCL_TIMEOUT", "NCCL_IB_"}},
    {"at .*(: (no|bad) file|wrong class \\d)", {" file", "wrong class "}},
    {"x{2,3}yz", {"yz"}},
    {"[a|b]rest", {"rest"}},
    {"[]a]rest", {"rest"}},
    {"[^]a]rest", {"rest"}},
    {"a\\.b\\|c", {"a.b|c"}},
    {"\\d+ bytes", {" bytes"}},
    {"(?i)case", {}},
    {"rail (?P<rail>[0-9]+) is down", {" is down"}},
    {"(?P<why>too (?:long|short))", {"too long", "too short"}},
    {"(?:get|set) refused", {" refused"}},
    {"(?i:case) refused", {}},
    {"(?P<a>x)(?i)case", {}},
    {"\\x41bcdef", {}},
    {"\\pNabc", {}},
    {"", {}},
    {"()", {}},
    // No expressions: nothing is asked of them but an end.
    {"(", {}},
    {"(?P<a", {}},
    {"a)b", {"a"}},
    {"[", {}},
    {"a\\", {"a"}},
};

TEST(RequiredTexts, OneOfThemIsPartOfEveryMatch) {
  for (const PatternRow& row : kPatterns)
    EXPECT_EQ(required_texts(row.pattern), row.texts) << row.pattern;
}

}  // namespace
}  // namespace ncclog::testing
