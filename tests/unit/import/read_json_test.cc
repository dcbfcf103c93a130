#include "import/read_json.h"

#include <gtest/gtest.h>

#include <string>

#include "support/describe_document.h"

namespace ncclog {
namespace {

using testing::describe_document;

struct Row {
  std::string bytes;
  std::string result;
};

const Row kRows[] = {
    {R"({"a": [1, -2, 3.5, null, true, "\u00e9\n"], "b": {"a": {}}})",
     "{\"a\": [1, -2, 3.5, None, true, \"\u00e9\n\"], \"b\": {\"a\": {}}}"},
    {" 7 ", "7"},
    {"18446744073709551615", "None"},
    {R"({"a": 1, "a": 2})", R"({"a": 1, "a": 2})"},
    {"", "the JSON text is malformed or cut at byte 1"},
    {R"({"a": )", "the JSON text is malformed or cut at byte 7"},
    {"{} {}", "the JSON text is malformed or cut at byte 4"},
    {"[\"\xff\"]", "the JSON text is malformed or cut at byte 3"},
    {std::string(kMaxNesting + 1, '['), "the JSON text nests deeper than 512"},
};

TEST(ReadJson, ReadsPlainDataOrSaysWhereItCannot) {
  for (const Row& row : kRows) {
    EXPECT_EQ(describe_document(read_json(row.bytes)), row.result) << row.bytes;
  }
}

TEST(ReadJson, ReadsWhatNestsAsDeepAsAllowed) {
  const std::string deep = std::string(kMaxNesting, '[') + std::string(kMaxNesting, ']');
  EXPECT_EQ(read_json(deep).problem, "");
}

}  // namespace
}  // namespace ncclog
