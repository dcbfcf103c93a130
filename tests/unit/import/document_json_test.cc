// Does a pickle say the same as JSON?

#include "import/document_json.h"

#include <gtest/gtest.h>

#include "import/read_json.h"
#include "import/read_pickle.h"

namespace ncclog {
namespace {

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

}  // namespace
}  // namespace ncclog
