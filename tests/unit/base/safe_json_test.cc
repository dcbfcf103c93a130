// What may not stand raw in JSON, although JSON allows it?

#include "base/safe_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace ncclog {
namespace {

TEST(SafeJson, EscapesWhatIsNotToBeSeen) {
  struct SafeRow {
    const char* json;
    const char* safe;
  };
  const SafeRow rows[] = {
      {R"({"a":"plain"})", R"({"a":"plain"})"},
      {R"(["größe █▌ 中文"])", R"(["größe █▌ 中文"])"},
      {"[\"a\u202Eb\u2066\"]", R"(["a\u202eb\u2066"])"},
      {"[\"\x7f\u009b\u2028\uFEFF\"]", R"(["\u007f\u009b\u2028\ufeff"])"},
      {"[\"\U000E0041\"]", R"(["\udb40\udc41"])"},
  };
  for (const SafeRow& row : rows) {
    EXPECT_EQ(safe_json(row.json), row.safe);
    EXPECT_EQ(nlohmann::json::parse(row.safe), nlohmann::json::parse(row.json));
  }
}

}  // namespace
}  // namespace ncclog
