// What ncclog can be asked to do. One row per command: adding one is writing its file and its row.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/console.h"
#include "app/exit_status.h"

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

RunCommand declare_analyze(CLI::App& app);     ///< app/analyze_command.cc
RunCommand declare_report(CLI::App& app);      ///< app/report_command.cc
RunCommand declare_diff(CLI::App& app);        ///< app/diff_command.cc
RunCommand declare_show(CLI::App& app);        ///< app/show_command.cc
RunCommand declare_count(CLI::App& app);       ///< app/count_command.cc
RunCommand declare_export(CLI::App& app);      ///< app/export_command.cc
RunCommand declare_replay(CLI::App& app);      ///< app/replay_command.cc
RunCommand declare_env(CLI::App& app);         ///< app/env_command.cc
RunCommand declare_explain(CLI::App& app);     ///< app/explain_command.cc
RunCommand declare_rules(CLI::App& app);       ///< app/rules_command.cc
RunCommand declare_messages(CLI::App& app);    ///< app/messages_command.cc
RunCommand declare_expect(CLI::App& app);      ///< app/expect_command.cc
RunCommand declare_help(CLI::App& app);        ///< app/pages_command.cc
RunCommand declare_man(CLI::App& app);         ///< app/pages_command.cc
RunCommand declare_completion(CLI::App& app);  ///< app/pages_command.cc

}  // namespace ncclog
