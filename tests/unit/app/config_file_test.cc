#include "app/config_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::TempDir;

/// "section/key=value,value@line" for each entry.
std::string described(std::string_view text) {
  std::string out;
  for (const ConfigEntry& entry : parse_config(text, "c").entries) {
    out += fmt::format("{}{}/{}={}@{}", out.empty() ? "" : " ", entry.section, entry.key,
                       join(entry.values, ","), entry.line);
  }
  return out;
}

TEST(ConfigFile, TakesKeysListsAndSections) {
  struct Row {
    const char* text;
    const char* entries;
  };
  const Row kRows[] = {
      {"", ""},
      {"# nothing\n\n", ""},
      {"threads = 4", "/threads=4@1"},
      {"color=\"never\" # at night\r\n", "/color=never@1"},
      {"a = 'it\\s'\nb = \"say \\\"x\\\" # y\"", "/a=it\\s@1 /b=say \"x\" # y@2"},
      {"[analyze]\nrules = [\"a b\", 'c',]\n[rules.test]\nrules=[]",
       "analyze/rules=a b,c@2 rules test/rules=@4"},
      {"quiet = true", "/quiet=true@1"},
      {"threads = -4", "/threads=-4@1"},
  };
  for (const Row& row : kRows) EXPECT_EQ(described(row.text), row.entries) << row.text;
}

std::string refusal(std::string_view text) {
  try {
    parse_config(text, "c");
  } catch (const Error& error) {
    return error.where() + ": " + error.what();
  }
  return {};
}

TEST(ConfigFile, RefusesWhatItDoesNotUnderstandWithItsLine) {
  struct Row {
    const char* text;
    const char* refusal;
  };
  const Row kRows[] = {
      {"\nthreads 4", "c:2: expected '=', found '4'"},
      {"color = never", "c:1: text needs quotes: never"},
      {"color = \"never", "c:1: expected a closing quote, found '\"never'"},
      {"color = ", "c:1: expected a value, found ''"},
      {"[analyze", "c:1: expected ']', found ''"},
      {"[analyze] x", "c:1: expected the end of the line, found 'x'"},
      {"a = 1 2", "c:1: expected the end of the line, found '2'"},
      {"rules = ['a' 'b']", "c:1: expected ',' or ']', found ''b']'"},
      {"= 4", "c:1: expected the name of a flag, found '= 4'"},
      {"a = \x1b[2J", "c:1: expected a value, found '\\x1b[2J'"},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal(row.text), row.refusal) << row.text;
}

TEST(ConfigFile, TheOneThatIsNamedIsRead) {
  const TempDir folder;
  const std::string path = folder.add("x.toml", "threads = 3\n");
  EXPECT_EQ(find_config({"analyze", "--config", path}).entries.size(), 1U);
  EXPECT_EQ(find_config({"analyze", "--config=" + path, "logs"}).path, path);
  EXPECT_EQ(find_config({"--config", path, "--config", ""}).path, "");
  EXPECT_THROW(find_config({"--config", path + ".not"}), Error);
  EXPECT_THROW(find_config({"--config", folder.path().string()}), Error);
}

}  // namespace
}  // namespace ncclog
