#include "app/write_man.h"

#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/text.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace ncclog {
namespace {

using testing::Outcome;
using testing::TempDir;

std::vector<ManPage> all_pages() {
  return write_man_pages(declared_commands(), "1.2.3", "2026-11-21");
}

/// Text in which roff's escapes mean what they print.
std::string plain(std::string text) {
  const std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"\\-", "-"}, {"\\(aq", "'"}, {"\\(ga", "`"}, {"\\(ha", "^"}, {"\\(ti", "~"},
      {"\\fB", ""}, {"\\fI", ""},   {"\\fR", ""},   {"\\e", "\\"}};
  for (const auto& [from, to] : kEscapes) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

bool is_there(const std::string& program) {
  return testing::run_command({.arguments = {"which", program}}).exit_code == 0;
}

TEST(ManPages, ThereIsOneForEachCommand) {
  const std::vector<ManPage> pages = all_pages();
  ASSERT_EQ(pages.size(), commands().size() + 1);
  EXPECT_EQ(pages[0].name, "ncclog");
  EXPECT_EQ(pages[1].name, "ncclog-analyze");
  EXPECT_EQ(pages[1].text.find(".TH \"NCCLOG-ANALYZE\" 1 \"2026-11-21\" \"ncclog 1.2.3\""), 0U)
      << pages[1].text.substr(0, 100);
}

TEST(ManPages, NameEveryCommandAndFlag) {
  const CommandRow root = declared_commands();
  for (const ManPage& page : all_pages()) {
    const std::string path = page.name == "ncclog" ? "" : page.name.substr(7);
    const CommandRow* command = find_command(root, path);
    ASSERT_NE(command, nullptr) << page.name;
    const std::string text = plain(page.text);
    for (const FlagRow& flag : command->flags) {
      EXPECT_NE(text.find(join(flag.names, ", ")), std::string::npos) << page.name;
    }
    for (const CommandRow& below : command->commands) {
      EXPECT_NE(text.find(below.help.substr(1)), std::string::npos) << page.name << below.path;
      if (path.empty()) continue;  // That one has a page of its own.
      for (const FlagRow& flag : below.flags) {
        EXPECT_NE(text.find(join(flag.names, ", ")), std::string::npos) << below.path;
      }
    }
  }
}

TEST(ManPages, TextMeansItselfInRoff) {
  const CommandRow root{.help = "root",
                        .commands = {{.path = "x",
                                      .help = "say 'a-b' \\n ~ ^ `c`",
                                      .notes = "Examples:\n  .so /etc/passwd\n\n'quoted' begins"}}};
  const std::string text = write_man_pages(root, "1", "").back().text;
  EXPECT_NE(text.find("Say \\(aqa\\-b\\(aq \\en \\(ti \\(ha \\(gac\\(ga.\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  .so /etc/passwd\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n\\(aqquoted\\(aq begins\n"), std::string::npos) << text;
}

TEST(ManPages, PassTheChecksOfMandocAndGroff) {
  const TempDir folder;
  Console console;
  run_command_line({"man", "--into", folder.path().string()}, console);
  if (!is_there("mandoc") && !is_there("groff")) GTEST_SKIP() << "neither mandoc nor groff here";
  for (const ManPage& page : all_pages()) {
    const std::string file = (folder.path() / (page.name + ".1")).string();
    if (is_there("mandoc")) {
      const Outcome lint =
          testing::run_command({.arguments = {"mandoc", "-T", "lint", "-W", "warning", file}});
      EXPECT_EQ(lint.standard_output + lint.standard_error, "") << page.name;
    }
    if (is_there("groff")) {
      const Outcome made = testing::run_command(
          {.arguments = {"groff", "-man", "-Tutf8", "-ww", "-b", "-rLL=78n", file}});
      EXPECT_EQ(made.standard_error, "") << page.name;
      EXPECT_EQ(made.exit_code, 0);
    }
  }
}

}  // namespace
}  // namespace ncclog
