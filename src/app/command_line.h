// What can ncclog be asked to do, and what does a command line come to?
//
//   ncclog analyze logs/ -q
//   → flags of all commands declared, configuration file read, words parsed, row "analyze" run
//
// One row per command: adding one is writing its file in app/commands/, its examples in app/texts/
// and its row in app/commands.table. Help, man pages, completions and the configuration file know
// it then.

#pragma once

#include <string>
#include <vector>

#include "app/command_table.h"
#include "app/output.h"

namespace ncclog {

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

/// For --messages and `ncclog messages check`. Adds the kinds of these files, and of the *.messages
/// files in these folders, to the built-in ones; returns how many files that were. Called before
/// anything is read. Throws Error with file, line and column, and adds nothing, if one is wrong.
size_t use_message_files(const std::vector<std::string>& paths);

}  // namespace ncclog
