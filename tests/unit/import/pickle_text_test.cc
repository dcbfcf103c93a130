#include "import/pickle_text.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

using namespace std::string_literals;

struct Row {
  std::string written;
  std::optional<std::string> meant;
};

const Row kStrings[] = {
    {"'abc'", "abc"},
    {"\"it's\"", "it's"},
    {"''", ""},
    {R"('a\\b\'\"\n\t\x00\xfF')", "a\\b'\"\n\t\0\xff"s},
    {"'open", std::nullopt},
    {"'", std::nullopt},
    {"'a\"", std::nullopt},
    {"", std::nullopt},
    {R"('\q')", std::nullopt},
    {R"('\x4')", std::nullopt},
    {R"('a\')", std::nullopt},
};

TEST(PickleText, DecodesPythonStrings) {
  for (const Row& row : kStrings) EXPECT_EQ(decode_python_string(row.written), row.meant);
}

const Row kUnicode[] = {
    {"", ""},
    {"abc", "abc"},
    {"\xe9", "\u00e9"},
    {R"(\u20ac\U0001F600)", "\u20ac\U0001F600"},
    {R"(a\b)", R"(a\b)"},
    {R"(\u12)", std::nullopt},
    {R"(\u12g4)", std::nullopt},
    {R"(\U00110000)", std::nullopt},
};

TEST(PickleText, DecodesRawUnicode) {
  for (const Row& row : kUnicode) EXPECT_EQ(decode_raw_unicode(row.written), row.meant);
}

}  // namespace
}  // namespace ncclog
