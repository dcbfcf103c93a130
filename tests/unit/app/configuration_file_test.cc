#include "app/configuration_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/command_line.h"
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
      {"b = 1\n[z]\nc = 1\n[a.d]\nc = 1\n", "/b=1@1 z/c=1@3 a d/c=1@5"},
      {"rules = [\n 'a',  # ours\n 'b',\n]\nshow.format = 'csv'", "/rules=a,b@1 show/format=csv@5"},
  };
  for (const Row& row : kRows) EXPECT_EQ(described(row.text), row.entries) << row.text;
}

std::string config_refusal(std::string_view text) {
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
      {"\nthreads 4", "c:2:9: Error while parsing key-value pair: expected '=', saw '4'"},
      {"color = never", "c:1:10: Error while parsing floating-point: expected 'nan', saw 'ne'"},
      {"color = \"never", "c:1:15: Error while parsing string: encountered end-of-file"},
      {"color = ", "c:1:9: Error while parsing key-value pair: encountered end-of-file"},
      {"[analyze", "c:1:9: Error while parsing table header: encountered end-of-file"},
      {"[analyze] x",
       "c:1:11: Error while parsing table header: expected a comment or whitespace, saw 'x'"},
      {"a = 1 2",
       "c:1:7: Error while parsing key-value pair: expected a comment or whitespace, saw '2'"},
      {"rules = ['a' 'b']",
       "c:1:14: Error while parsing array: expected comma or closing ']', saw '''"},
      {"= 4",
       "c:1:1: Error while parsing root table: expected keys, tables, whitespace or comments, saw "
       "'='"},
      {"a = \x1b[2J", "c:1:5: Error while parsing value: unexpected control character"},
      {"a = 1\n\na = 2",
       "c:3:5: Error while parsing key-value pair: cannot redefine existing integer 'a'"},
      {"\na = 1.5", "c:2: neither a text nor a whole number, true or false"},
      {"a = [1, [2]]", "c:1: neither a text nor a whole number, true or false"},
  };
  for (const Row& row : kRows) EXPECT_EQ(config_refusal(row.text), row.refusal) << row.text;
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

using testing::TempDir;

/// Runs with a configuration file of that text.
class ConfigFlags : public ::testing::Test {
 protected:
  std::string run(const std::string& config, std::vector<std::string> words) {
    const std::string path = folder_.add("config.toml", config);
    words.insert(words.begin(), {"--config", path});
    Console console;
    run_command_line(std::move(words), console);
    return console.out;
  }

  /// "line: what (hint)" of the Error, the folder left out.
  std::string refusal(const std::string& config) {
    try {
      run(config, {"rules", "list"});
    } catch (const Error& error) {
      const std::string where = error.where().substr(error.where().rfind("toml:") + 5);
      return where + ": " + error.what() + (error.hint().empty() ? "" : " (" + error.hint() + ")");
    }
    return {};
  }

  std::string log() {
    return folder_.add("a.log", "n:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n");
  }

  TempDir folder_;
};

constexpr const char* kCsv = "name,value,ranks,processes\nNCCL_DEBUG,INFO,,1\n";

TEST_F(ConfigFlags, ValuesAreInForceAsIfTyped) {
  EXPECT_EQ(run("[show]\nformat = \"csv\"\n", {"show", "env", log()}), kCsv);
  EXPECT_EQ(run("[export]\nformat = \"csv\"\ntable = \"env\"\n", {"export", log()}), kCsv);
}

TEST_F(ConfigFlags, TheCommandLineGoesFirst) {
  EXPECT_EQ(run("[show]\nformat = \"json\"\n", {"show", "env", log(), "--format", "csv"}), kCsv);
  EXPECT_EQ(run("[count]\nby = \"rank,host\"\n", {"count", log(), "--by", "op", "--format", "csv"})
                .substr(0, 2),
            "op");
}

TEST_F(ConfigFlags, ASectionGoesBeforeWhatStandsAboveAll) {
  EXPECT_EQ(
      run("threads = 2\nformat = \"json\"\n[show]\nformat = \"csv\"\n", {"show", "env", log()}),
      kCsv);
}

TEST_F(ConfigFlags, AWordAboveAllSectionsIsForTheFlagsThatKnowIt) {
  EXPECT_EQ(run("format = \"csv\"\n", {"show", "env", log()}), kCsv);
  EXPECT_EQ(run("format = \"csv\"\n", {"analyze", log()}), run("", {"analyze", log()}));
}

TEST_F(ConfigFlags, SwitchesAreOnOrOff) {
  const std::string quiet = run("quiet = true\n", {"analyze", log()});
  const std::string loud = run("quiet = false\n", {"analyze", log()});
  EXPECT_LT(quiet.size(), loud.size());
  EXPECT_TRUE(loud.starts_with(quiet)) << loud;
}

TEST_F(ConfigFlags, SwitchesThatAreOnCanBeTurnedOff) {
  const std::string bundle = (folder_.path() / "b.tar.zst").string();
  const auto has_mapping = [&](const std::string& config) {
    run("[report]\n" + config + "\n", {"report", log(), "--bundle", bundle});
    return std::filesystem::remove(bundle + ".mapping.json");
  };
  EXPECT_TRUE(has_mapping("anonymise = true"));
  EXPECT_FALSE(has_mapping("anonymise = false"));
  EXPECT_FALSE(has_mapping("no-anonymise = true"));
}

TEST_F(ConfigFlags, WhatMakesNoSenseIsRefusedWithItsLine) {
  struct Row {
    const char* config;
    const char* refusal;
  };
  const Row kRows[] = {
      {"\nthraeds = 4", "2: unknown key 'thraeds' (did you mean 'threads'?)"},
      {"[show]\nfail-on = \"error\"",
       "2: unknown key 'fail-on' of show (keys are names of flags; 'ncclog COMMAND --help' lists "
       "them)"},
      {"[analyse]\nformat = \"json\"", "2: no command 'analyse' (did you mean 'analyze'?)"},
      {"[analyze]\nformat = \"jsn\"", "2: format: unknown value 'jsn' (did you mean 'json'?)"},
      {"format = \"jsn\"", "1: format: unknown value 'jsn' (did you mean 'json'?)"},
      {"threads = 0", "1: threads: not a number from 1 to 1024: '0'"},
      {"quiet = 3", "1: quiet: is on or off (write true or false)"},
      {"help = true",
       "1: unknown key 'help' (keys are names of flags; 'ncclog COMMAND --help' "
       "lists them)"},
      {"[analyze]\nexpect = ['a', 'b']", "2: expect: cannot be 'a, b' (it takes PROFILE)"},
  };
  for (const Row& row : kRows) EXPECT_EQ(refusal(row.config), row.refusal) << row.config;
}

TEST_F(ConfigFlags, WhatIsInForceIsTold) {
  const std::string shown = run("threads = 3\n[analyze]\nfail-on = \"never\"\n",
                                {"analyze", "--show-config", "--format", "json", "--threads", "2"});
  const std::string path = (folder_.path() / "config.toml").string();
  EXPECT_EQ(shown.find("configuration file: " + path + "\n"), 0U) << shown;
  EXPECT_NE(shown.find("\n  threads       2      command line\n"
                       "  format        json   command line\n"),
            std::string::npos)
      << shown;
  EXPECT_NE(
      shown.find("\n  fail-on       never  " + path + ":3\n" + "  color         auto   default\n"),
      std::string::npos)
      << shown;
}

}  // namespace

}  // namespace ncclog
