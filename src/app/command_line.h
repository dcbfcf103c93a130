// What can ncclog be asked to do, and what does a command line come to?
//
//   ncclog analyze logs/ -q
//   → flags of all commands declared, configuration file read, words parsed, row "analyze" run
//
// One row per command: adding one is writing its file in app/commands/ and its examples in
// app/texts/, declaring its function here, and its row in app/command_line.cc. Help, man pages,
// completions and the configuration file know it then.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"

namespace ncclog {

struct Command {
  std::string_view name;
  std::string_view help;  ///< One line.
  /// Declares arguments, flags, commands below it, and what is run after parsing.
  void (*declare)(CommandRow& command);
  std::string_view task = "";  ///< What it is for: commands of one task stand together in the help.
};

/// All commands, in the order in which the help lists them; valid for the whole program.
std::span<const Command> commands();

/// Everything that can be typed, as it is declared (app/command_table.h); nothing else.
CommandRow declared_commands();

/// What a command line names.
struct TypedCommand {
  const CommandRow* command = nullptr;  ///< Never nullptr; lives as the rows do.
  bool wants_help = false;
};

/// Gives `arguments` (without the program's name) to the rows below `root`. Throws Error if they
/// make no sense.
TypedCommand parse_arguments(CommandRow& root, std::vector<std::string> arguments);

/// Parses `arguments` (without the program's name) and does what they ask; output goes to
/// `console.out`. Throws Error if they make no sense or what they ask cannot be done.
ExitStatus run_command_line(std::vector<std::string> arguments, Console& console);

void declare_analyze(CommandRow& command);     ///< app/commands/analyze.cc
void declare_report(CommandRow& command);      ///< app/commands/report.cc
void declare_diff(CommandRow& command);        ///< app/commands/show_count_diff.cc
void declare_show(CommandRow& command);        ///< app/commands/show_count_diff.cc
void declare_count(CommandRow& command);       ///< app/commands/show_count_diff.cc
void declare_export(CommandRow& command);      ///< app/commands/export.cc
void declare_replay(CommandRow& command);      ///< app/commands/replay.cc
void declare_env(CommandRow& command);         ///< app/commands/env.cc
void declare_explain(CommandRow& command);     ///< app/commands/analyze.cc
void declare_rules(CommandRow& command);       ///< app/commands/rules.cc
void declare_messages(CommandRow& command);    ///< app/commands/rules.cc
void declare_expect(CommandRow& command);      ///< app/commands/rules.cc
void declare_help(CommandRow& command);        ///< app/help.cc
void declare_man(CommandRow& command);         ///< app/help.cc
void declare_completion(CommandRow& command);  ///< app/help.cc

/// For --messages and `ncclog messages check`. Adds the kinds of these files, and of the *.messages
/// files in these folders, to the built-in ones; returns how many files that were. Called before
/// anything is read. Throws Error with file, line and column, and adds nothing, if one is wrong.
size_t use_message_files(const std::vector<std::string>& paths);

}  // namespace ncclog
