#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "replay/plan/plan_json.h"

namespace ncclog {
namespace {

/// "count@27", from 0; "none".
std::string found_in(const std::string& text) {
  try {
    parse_json_document(text, "text");
    return "none";
  } catch (const Error& error) {
    const std::string what = error.what();
    const size_t column = std::stoul(error.where().substr(error.where().rfind(':') + 1));
    const size_t quote = what.find('\'') + 1;
    return what.substr(quote, what.rfind('\'') - quote) + "@" + std::to_string(column - 1);
  }
}

struct RepeatedRow {
  const char* text;
  const char* found;
};

constexpr RepeatedRow kRepeated[] = {
    {R"({"count": 8, "op": "Send", "count": 9})", "count@27"},
    {R"({"a": {"count": 8}, "b": {"count": 9}})", "none"},
    {R"([{"a": 1}, {"a": 2}])", "none"},
    {R"({"a": {"b": 1}, "b": 2})", "none"},
    {R"({"a": {"b": 1, "b": 2}, "a": 2})", "b@15"},
    {R"({"a": [{"b": 1}], "c": {}, "a" : 3})", "a@27"},
    {R"({"a": "a", "b": ["a", "a"]})", "none"},
    {R"({"a": "\"a\": ", "b": "}{"})", "none"},
    {R"({"a\\": 1, "a\"": 2, "a": 3})", "none"},
    {R"({"count": 1, "c\u006funt": 2})", "count@13"},
    {R"({"b": 1, "a": 1, "a": 2, "b": 2, "a": 3})", "a@17"},
    {R"({"": 1, "": 2})", "@8"},
    {"{}", "none"},
    {"[]", "none"},
    {"\"a\"", "none"},
    {"1", "none"},
};

TEST(RepeatedKey, LooksAtEachObjectByItself) {
  for (const RepeatedRow& row : kRepeated) EXPECT_EQ(found_in(row.text), row.found) << row.text;
}

TEST(RepeatedKey, DepthCostsNothing) {
  constexpr int kDeep = 200000;
  std::string text;
  for (int i = 0; i < kDeep; ++i) text += R"({"a":)";
  text += "1" + std::string(kDeep, '}');
  EXPECT_EQ(found_in(text), "none");
}

}  // namespace
}  // namespace ncclog
