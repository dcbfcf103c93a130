#include "import/document.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/describe_document.h"

namespace ncclog {
namespace {

TEST(Document, NumbersAreTakenFromAllTheirForms) {
  EXPECT_EQ(whole_number(Value(int64_t{-3})), -3);
  EXPECT_EQ(whole_number(Value(std::string_view("29"))), 29);
  EXPECT_EQ(whole_number(Value(29.0)), 29);
  EXPECT_EQ(whole_number(Value(29.5)), std::nullopt);
  EXPECT_EQ(whole_number(Value(1e300)), std::nullopt);
  EXPECT_EQ(whole_number(Value(true)), std::nullopt);
  EXPECT_EQ(whole_number(Value()), std::nullopt);
  EXPECT_EQ(real_number(Value(0.25)), 0.25);
  EXPECT_EQ(real_number(Value(std::string_view("0.25"))), 0.25);
  EXPECT_EQ(real_number(Value(std::string_view("0.25s"))), std::nullopt);
  EXPECT_EQ(real_number(Value(std::numeric_limits<double>::infinity())), std::nullopt);
  EXPECT_EQ(truth(Value(true)), true);
  EXPECT_EQ(truth(Value(int64_t{0})), false);
  EXPECT_EQ(truth(Value(int64_t{2})), std::nullopt);
}

TEST(Document, TheLastMemberOfANameCounts) {
  const ParsedDocument document = read_json(R"({"a": 1, "b": 2, "a": 3})");
  DocumentWalk walk(document, 100);
  ASSERT_NE(walk.member(walk.root(), "a"), nullptr);
  EXPECT_EQ(whole_number(*walk.member(walk.root(), "a")), 3);
  EXPECT_EQ(walk.member(walk.root(), "c"), nullptr);
}

TEST(Document, AWalkEndsEvenWhereTheDocumentDoesNot) {
  const ParsedDocument document = read_pickle(std::string_view("]q\0h\0a.", 7));
  DocumentWalk walk(document, 1000);
  const Value* list = &walk.root();
  size_t steps = 0;
  for (; !walk.is_spent(); ++steps) {
    const Value* inner = list;
    walk.each_item(*list, [&](const Value& item) { inner = &item; });
    list = inner;
  }
  EXPECT_EQ(steps, 1000U);
}

TEST(Document, TextsCountByTheirLength) {
  const ParsedDocument document = read_json(R"(["0123456789"])");
  DocumentWalk walk(document, 12);
  std::string first;
  std::string second;
  walk.each_item(walk.root(), [&](const Value& text) {
    first = walk.text(text);
    second = walk.text(text);
  });
  EXPECT_EQ(first, "0123456789");
  EXPECT_EQ(second, "");
  EXPECT_TRUE(walk.is_spent());
}

// Does a pickle say the same as JSON?

TEST(DocumentJson, WritesWhatWasRead) {
  const std::string_view text = R"({"a": [1, -2, 3.5, null, true], "b\"": {"c": []}})";
  EXPECT_EQ(document_json(read_json(text), 1000), std::string(text) + "\n");
}

TEST(DocumentJson, KeysOfPicklesMayBeNumbers) {
  EXPECT_EQ(document_json(read_pickle(std::string_view("\x80\x02}K\x07K\x08s.", 9)), 1000),
            "{\"7\": 8}\n");
}

TEST(DocumentJson, RefusesWhatCannotBeReadOrIsTooLong) {
  EXPECT_EQ(document_json(read_json("{\"a\": "), 1000), std::nullopt);
  EXPECT_EQ(document_json(read_json("[\"aaaaaaaaaaaaaaaa\", 1, 2, 3]"), 10), std::nullopt);
}

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
