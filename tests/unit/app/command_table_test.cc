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
  for (const Command& command : commands()) {
    const CommandRow* row = find_command(root, command.name);
    ASSERT_NE(row, nullptr) << command.name;
    EXPECT_EQ(row->help, command.help);
    EXPECT_NE(row->task, "") << command.name << ": say what it is for, in commands.cc";
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

TEST(CommandTable, ValuesAreCompletedByWhatTheyAreCalled) {
  struct Row {
    const char* value;
    ArgumentKind kind;
    const char* words;
  };
  const Row kRows[] = {
      {"", ArgumentKind::None, ""},       {"text|json", ArgumentKind::Word, "text json"},
      {"FILE", ArgumentKind::File, ""},   {"op,size", ArgumentKind::WordList, "op size"},
      {"DIR", ArgumentKind::Folder, ""},  {"LIST", ArgumentKind::Text, ""},
      {"2.27.3", ArgumentKind::Text, ""}, {"COMMAND", ArgumentKind::Command, ""},
  };
  for (const Row& row : kRows) {
    const FlagRow flag{.value = row.value};
    EXPECT_EQ(argument_kind(flag), row.kind) << row.value;
    EXPECT_EQ(join(value_words(flag), " "), row.words);
  }
  const std::vector<std::string> rules = value_words({.value = "RULE"});
  EXPECT_NE(std::find(rules.begin(), rules.end(), "shm-no-space"), rules.end());
  const std::vector<std::string> tables = value_words({.value = "TABLE"});
  EXPECT_NE(std::find(tables.begin(), tables.end(), "ranks"), tables.end());
}

/// "heading: line | line" for each block, paragraphs without heading.
std::string described(std::string_view notes) {
  std::string out;
  for (const NoteBlock& block : note_blocks(notes)) {
    if (!out.empty()) out += " // ";
    out += (block.heading.empty() ? "" : block.heading + ": ") + join(block.lines, "|");
  }
  return out;
}

TEST(CommandTable, NotesAreTakenApart) {
  EXPECT_EQ(described(""), "");
  EXPECT_EQ(described("one\ntwo\n\nthree"), "one two // three");
  EXPECT_EQ(described("Examples:\n  a b\n  c\n\nExit status: 0\n1 not"),
            "Examples:   a b|  c // Exit status: 0 1 not");
  EXPECT_EQ(described("Ends with a colon:\nand goes on"), "Ends with a colon: and goes on");
  EXPECT_EQ(described("  indented first"), "  indented first");
}

}  // namespace
}  // namespace ncclog
