#include "app/command_table.h"

#include <gtest/gtest.h>

#include <set>

#include "app/command_line.h"
#include "app/help.h"
#include "base/text.h"

namespace ncclog {
namespace {

TEST(CommandTable, HasEveryCommandWithItsTask) {
  const CommandRow root = declared_commands();
  for (const char* name : {"analyze", "perf", "count", "diff", "show", "export", "env", "explain",
                           "replay", "rules", "messages", "expect", "help", "man", "completion"}) {
    const CommandRow* row = find_command(root, name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_NE(row->help, "") << name;
    EXPECT_NE(row->task, "") << name << ": say what it is for, in command_line.cc";
  }
  EXPECT_NE(find_command(root, "rules new"), nullptr);
  EXPECT_EQ(find_command(root, "rules old"), nullptr);
}

TEST(CommandTable, EveryFlagHasOneNameAHelpAndAGroup) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    std::set<std::string> names;
    for (const FlagRow& flag : command->flags) {
      EXPECT_NE(flag.help, "") << typed_name(*command) << " " << main_name(flag);
      EXPECT_NE(flag.group, "") << typed_name(*command) << " " << main_name(flag);
      EXPECT_FALSE(flag.help.ends_with('.')) << typed_name(*command) << " " << main_name(flag);
      for (const std::string& name : flag.names) {
        EXPECT_TRUE(names.insert(name).second) << typed_name(*command) << " " << name;
      }
    }
  }
}

TEST(CommandTable, EveryCommandHasTheGeneralFlags) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    std::set<std::string> names;
    for (const FlagRow& flag : command->flags) names.insert(main_name(flag));
    for (const char* name : {"--help", "--quiet", "--verbose", "--no-progress", "--config"}) {
      EXPECT_TRUE(names.contains(name)) << typed_name(*command) << " " << name;
    }
  }
}

TEST(CommandTable, UsageNamesArgumentsInOrder) {
  const CommandRow root = declared_commands();
  struct Row {
    const char* path;
    const char* usage;
  };
  const Row kRows[] = {
      {"", "ncclog COMMAND [FLAG...]"},
      {"show", "ncclog show [FLAG...] TABLE PATH..."},
      {"rules", "ncclog rules COMMAND [FLAG...]"},
      {"rules show", "ncclog rules show [FLAG...] RULE"},
      {"completion", "ncclog completion [FLAG...] bash|zsh|fish"},
  };
  for (const Row& row : kRows) {
    const CommandRow* command = find_command(root, row.path);
    ASSERT_NE(command, nullptr) << row.path;
    EXPECT_EQ(usage(*command), row.usage);
  }
}

TEST(CommandTable, ValuesOfAFlagFollowFromWhatTheyAreCalled) {
  EXPECT_EQ(join(value_words({.value = "text|json"}), " "), "text json");
  EXPECT_EQ(join(value_words({.value = "op,size"}), " "), "op size");
  for (const char* anything : {"", "FILE", "DIR", "LIST", "2.27.3", "COMMAND"}) {
    EXPECT_TRUE(value_words({.value = anything}).empty()) << anything;
  }
  const std::vector<std::string> rules = value_words({.value = "RULE"});
  EXPECT_NE(std::find(rules.begin(), rules.end(), "shm-no-space"), rules.end());
  const std::vector<std::string> tables = value_words({.value = "TABLE"});
  EXPECT_NE(std::find(tables.begin(), tables.end(), "ranks"), tables.end());
}

/// What the help says below what the command does.
std::string noted(const char* notes) {
  return write_help({.help = "x", .notes = notes})
      .substr(std::string("usage: ncclog [FLAG...]\n\nX.\n").size());
}

TEST(CommandTable, NotesAreTakenApart) {
  EXPECT_EQ(noted(""), "");
  EXPECT_EQ(noted("one\ntwo\n\nthree"), "\none two\n\nthree\n");
  EXPECT_EQ(noted("Examples:\n  a b\n  c\n\nExit status: 0\n1 not"),
            "\nExamples:\n  a b\n  c\n\nExit status: 0 1 not\n");
  EXPECT_EQ(noted("Ends with a colon:\nand goes on"), "\nEnds with a colon: and goes on\n");
}

}  // namespace
}  // namespace ncclog
