// What can ncclog be asked to do, and what does a command line come to?
//
//   ncclog analyze logs/ -q
//   → flags of all commands declared, configuration file read, words parsed, row "analyze" run
//
// One row per command: adding one is writing its file in app/commands/ and its row in
// app/command_line.cc. Help, man pages, completions and the configuration file know it then.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/exit_codes.h"
#include "app/output.h"

namespace CLI {
class App;
}

namespace ncclog {

struct CommandRow;

/// Carries out a command whose options are parsed. Throws Error if that cannot be done.
using RunCommand = std::function<ExitStatus(Console& console)>;

struct Command {
  std::string_view name;
  std::string_view help;      ///< One line.
  std::string_view examples;  ///< Shown below the command's own help.
  /// Declares flags and subcommands; what it returns is run after parsing.
  RunCommand (*declare)(CLI::App& app);
  std::string_view task = "";  ///< What it is for: commands of one task stand together in the help.
};

/// All commands, in the order in which the help lists them; valid for the whole program.
std::span<const Command> commands();

/// Everything that can be typed, as it is declared (app/command_table.h).
CommandRow declared_commands();

/// Parses `arguments` (without the program's name) and does what they ask; output goes to
/// `console.out`. Throws Error if they make no sense or what they ask cannot be done.
ExitStatus run_command_line(std::vector<std::string> arguments, Console& console);

RunCommand declare_analyze(CLI::App& app);     ///< app/commands/analyze.cc
RunCommand declare_report(CLI::App& app);      ///< app/commands/report.cc
RunCommand declare_diff(CLI::App& app);        ///< app/commands/show_count_diff.cc
RunCommand declare_show(CLI::App& app);        ///< app/commands/show_count_diff.cc
RunCommand declare_count(CLI::App& app);       ///< app/commands/show_count_diff.cc
RunCommand declare_export(CLI::App& app);      ///< app/commands/export.cc
RunCommand declare_replay(CLI::App& app);      ///< app/commands/replay.cc
RunCommand declare_env(CLI::App& app);         ///< app/commands/env.cc
RunCommand declare_explain(CLI::App& app);     ///< app/commands/analyze.cc
RunCommand declare_rules(CLI::App& app);       ///< app/commands/rules.cc
RunCommand declare_messages(CLI::App& app);    ///< app/commands/rules.cc
RunCommand declare_expect(CLI::App& app);      ///< app/commands/rules.cc
RunCommand declare_help(CLI::App& app);        ///< app/commands/help.cc
RunCommand declare_man(CLI::App& app);         ///< app/commands/help.cc
RunCommand declare_completion(CLI::App& app);  ///< app/commands/help.cc

/// For --messages and `ncclog messages check`. Adds the kinds of these files, and of the *.messages
/// files in these folders, to the built-in ones; returns how many files that were. Called before
/// anything is read. Throws Error with file, line and column, and adds nothing, if one is wrong.
size_t use_message_files(const std::vector<std::string>& paths);

}  // namespace ncclog
