#include "import/document.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/describe_document.h"

namespace ncclog {
namespace {

using Json = nlohmann::json;

TEST(Document, NumbersAreTakenFromAllTheirForms) {
  EXPECT_EQ(whole_number(Json(-3)), -3);
  EXPECT_EQ(whole_number(Json("29")), 29);
  EXPECT_EQ(whole_number(Json(29.0)), 29);
  EXPECT_EQ(whole_number(Json(29.5)), std::nullopt);
  EXPECT_EQ(whole_number(Json(1e300)), std::nullopt);
  EXPECT_EQ(whole_number(Json(std::numeric_limits<uint64_t>::max())), std::nullopt);
  EXPECT_EQ(whole_number(Json(true)), std::nullopt);
  EXPECT_EQ(whole_number(Json()), std::nullopt);
  EXPECT_EQ(real_number(Json(0.25)), 0.25);
  EXPECT_EQ(real_number(Json("0.25")), 0.25);
  EXPECT_EQ(real_number(Json("0.25s")), std::nullopt);
  EXPECT_EQ(real_number(Json(std::numeric_limits<double>::infinity())), std::nullopt);
  EXPECT_EQ(truth(Json(true)), true);
  EXPECT_EQ(truth(Json(0)), false);
  EXPECT_EQ(truth(Json(2)), std::nullopt);
}

TEST(Document, TheLastMemberOfANameCounts) {
  const ParsedDocument document = read_json(R"({"a": 1, "b": 2, "a": 3})");
  EXPECT_EQ(whole_number(member(document.value, "a")), 3);
  EXPECT_TRUE(member(document.value, "c").is_null());
  EXPECT_TRUE(member(member(document.value, "a"), "c").is_null());
}

TEST(Document, KeysOfPicklesMayBeNumbers) {
  EXPECT_EQ(read_pickle(std::string_view("\x80\x02}K\x07K\x08s.", 9)).value.dump(), "{\"7\":8}");
}

using testing::describe_document;

struct DocumentRow {
  std::string bytes;
  std::string result;
};

const DocumentRow kDocuments[] = {
    {R"({"a": [1, -2, 3.5, null, true, "\u00e9\n"], "b": {"a": {}}})",
     "{\"a\":[1,-2,3.5,null,true,\"\u00e9\\n\"],\"b\":{\"a\":{}}}"},
    {" 7 ", "7"},
    {R"({"a": 1, "a": 2})", R"({"a":2})"},
    {"", "the JSON text is malformed or cut at byte 1"},
    {R"({"a": )", "the JSON text is malformed or cut at byte 7"},
    {"{} {}", "the JSON text is malformed or cut at byte 4"},
    {"[\"\xff\"]", "the JSON text is malformed or cut at byte 3"},
    {std::string(kMaxNesting + 1, '['), "the JSON text nests deeper than 512"},
};

TEST(ReadJson, ReadsPlainDataOrSaysWhereItCannot) {
  for (const DocumentRow& row : kDocuments) {
    EXPECT_EQ(describe_document(read_json(row.bytes)), row.result) << row.bytes;
  }
}

TEST(ReadJson, ReadsWhatNestsAsDeepAsAllowed) {
  const std::string deep = std::string(kMaxNesting, '[') + std::string(kMaxNesting, ']');
  EXPECT_EQ(read_json(deep).problem, "");
}

}  // namespace

}  // namespace ncclog
