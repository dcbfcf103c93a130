#include "app/write_help.h"

#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/text.h"
#include "report/text_layout.h"

namespace ncclog {
namespace {

TEST(Help, FitsEightyColumns) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    const std::string help = write_help(*command);
    for (const std::string_view line : split(help, '\n')) {
      EXPECT_LE(display_width(line), 80) << typed_name(*command) << ": " << line;
      EXPECT_EQ(line, line.substr(0, line.find_last_not_of(' ') + 1)) << "blanks at the end";
    }
  }
}

TEST(Help, NamesEveryFlagArgumentAndCommand) {
  const CommandRow root = declared_commands();
  for (const CommandRow* command : all_commands(root)) {
    const std::string help = write_help(*command);
    for (const FlagRow& flag : command->flags) {
      EXPECT_NE(help.find(typed_flag(flag)), std::string::npos) << help;
    }
    for (const FlagRow& argument : command->arguments) {
      EXPECT_NE(help.find("\n  " + typed_flag(argument)), std::string::npos) << help;
    }
    for (const CommandRow& below : command->commands) {
      EXPECT_NE(help.find(below.help.substr(0, 20)), std::string::npos) << help;
    }
  }
}

TEST(Help, GroupsWhatBelongsTogether) {
  const CommandRow command{
      .path = "look",
      .help = "look at it",
      .arguments = {{.value = "PATH", .help = "where", .repeats = true}},
      .flags = {{.names = {"--far"},
                 .value = "N",
                 .help = "how far",
                 .group = "Looking",
                 .fallback = "3"},
                {.names = {"-q", "--quiet"}, .help = "say nothing", .group = kGeneralFlags},
                {.names = {"--near"},
                 .help = "or near (default: far)",
                 .group = "Looking",
                 .fallback = "far"}},
      .notes = "Examples:\n  ncclog look    here\n\nThe end."};
  EXPECT_EQ(write_help(command),
            "usage: ncclog look [FLAG...] PATH...\n\n"
            "Look at it.\n\n"
            "  PATH...      where\n\n"
            "Looking:\n"
            "  --far N      how far (default: 3)\n"
            "  --near       or near (default: far)\n\n"
            "General:\n"
            "  -q, --quiet  say nothing\n\n"
            "Examples:\n"
            "  ncclog look    here\n\n"
            "The end.\n");
}

TEST(Help, LinesOfAListGoOnUnderTheirSecondColumn) {
  const CommandRow command{.help = "x",
                           .notes = "Tables:\n  ranks    one two three four five six seven"};
  const std::string help = write_help(command, 40);
  EXPECT_NE(help.find("\nTables:\n  ranks    one two three four five six\n           seven\n"),
            std::string::npos)
      << help;
}

TEST(Help, GroupsCommandsByTask) {
  const CommandRow root{.help = "does it",
                        .commands = {{.path = "a", .help = "first", .task = "One"},
                                     {.path = "b", .help = "second", .task = "Two"},
                                     {.path = "c", .help = "third", .task = "One"}}};
  EXPECT_EQ(write_help(root),
            "usage: ncclog COMMAND [FLAG...]\n\nDoes it.\n\n"
            "One:\n  a  first\n  c  third\n\nTwo:\n  b  second\n");
}

TEST(Help, IsNarrowerInANarrowTerminal) {
  EXPECT_EQ(help_columns({}), 80);
  EXPECT_EQ(help_columns({.is_terminal = true, .columns = 60}), 60);
  EXPECT_EQ(help_columns({.is_terminal = true, .columns = 200}), 80);
  EXPECT_EQ(help_columns({.is_terminal = false, .columns = 60}), 80);
}

TEST(Help, IsTheSameByFlagAndByCommand) {
  Console by_flag;
  Console by_command;
  EXPECT_EQ(run_command_line({"rules", "new", "--help"}, by_flag), ExitStatus::Fine);
  EXPECT_EQ(run_command_line({"help", "rules", "new"}, by_command), ExitStatus::Fine);
  EXPECT_EQ(by_flag.out, by_command.out);
  EXPECT_EQ(by_flag.out.find("usage: ncclog rules new [FLAG...] RULE\n"), 0U) << by_flag.out;
}

}  // namespace
}  // namespace ncclog
