#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ncclog {
namespace {

std::string json_string(std::string_view bytes) {
  std::string out = "before ";
  append_json_string(out, bytes);
  return out.substr(7);
}

TEST(JsonText, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("plain"), R"("plain")");
  EXPECT_EQ(json_string("say \"hi\" \\"), R"("say \"hi\" \\")");
  EXPECT_EQ(json_string("a\tb\nc\x01"), R"("a\tb\nc\u0001")");
  EXPECT_EQ(json_string("größe"), R"("größe")");
  EXPECT_EQ(json_string("cut \xc3"), "\"cut \uFFFD\"");
}

TEST(JsonText, EveryByteIsReadBackAsItself) {
  for (int byte = 0; byte < 0x80; ++byte) {
    const std::string text = "a" + std::string(1, static_cast<char>(byte)) + "b";
    EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text) << byte;
  }
}

}  // namespace
}  // namespace ncclog
