// From arguments to a command that runs: declare, read the configuration, parse, run.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "app/command_table.h"
#include "app/commands.h"
#include "app/common_flags.h"
#include "app/completion.h"
#include "app/config_flags.h"
#include "app/message_files.h"
#include "app/progress_line.h"
#include "app/write_help.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"

namespace ncclog {
namespace {

constexpr std::string_view kNotes =
    "Start with:\n"
    "  ncclog analyze logs/        verdict, evidence, what to do\n"
    "  ncclog show ranks logs/     each rank's state and last line\n\n"
    "'ncclog help COMMAND' lists a command's flags.";

std::vector<std::string_view> subcommand_names(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string hint_for(std::string_view word, std::span<const std::string_view> names) {
  const auto nearest = nearest_name(word, names);
  if (nearest) return fmt::format("did you mean '{}'?", *nearest);
  return names.empty() ? std::string() : fmt::format("one of: {}", fmt::join(names, ", "));
}

/// What the parser could not place is a misspelt flag or command.
void refuse_leftovers(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(false);
  if (!left.empty()) {
    const std::string word = left.front().substr(0, left.front().find('='));
    const bool is_flag = word.starts_with('-');
    const std::vector<std::string> flags = is_flag ? flag_names(app) : std::vector<std::string>();
    const auto names =
        is_flag ? std::vector<std::string_view>(flags.begin(), flags.end()) : subcommand_names(app);
    throw Error(fmt::format("unknown {} '{}'", is_flag ? "flag" : "command", printable(word)),
                app.get_parent() == nullptr ? "" : app.get_name(), hint_for(word, names));
  }
  for (const CLI::App* chosen : app.get_subcommands()) refuse_leftovers(*chosen);
}

/// Everything that can be typed, and what was.
struct CommandLine {
  CLI::App app{"finds out from the logs of a multi-GPU job what went wrong with NCCL"};
  bool wants_version = false;
  CommonOptions common;
  std::map<const CLI::App*, RunCommand> actions;
};

void declare(CommandLine& line) {
  CLI::App& app = line.app;
  app.name("ncclog");
  app.footer(std::string(kNotes));
  app.allow_extras();
  app.require_subcommand(0, 1);
  app.add_flag("--version", line.wants_version, "print the version");
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer(std::string(command.examples));
    sub->allow_extras();
    sub->group(std::string(command.task));
    line.actions[sub] = command.declare(*sub);
  }
  add_common_flags(app, line.common);
}

/// The command that was typed: the deepest one.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

/// False if help was asked for.
bool parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    throw Error(error.what(), "", "see 'ncclog --help'");
  }
  refuse_leftovers(app);
  return true;
}

/// Draws the progress while the command runs, where somebody can see it.
std::shared_ptr<ProgressLine> start_progress(const CommonOptions& common, Console& console) {
  if (!console.draws_progress || common.no_progress || common.quiet) return nullptr;
  auto line = std::make_shared<ProgressLine>();
  if (console.is_terminal && console.write) {
    console.write = [line, write = console.write](std::string_view text) {
      line->clear();
      return write(text);
    };
  }
  return line;
}

/// What -v tells.
std::string account(const ConfigFile& config, double seconds) {
  std::string text = fmt::format("ncclog {}\n", full_version());
  if (!config.path.empty()) text += fmt::format("configuration: {}\n", printable(config.path));
  const std::string read = reading_summary(reading_progress().snapshot());
  if (!read.empty()) text += read + "\n";
  return text + fmt::format("{:.2f} s in all\n", seconds);
}

ExitStatus run(const CommandLine& line, const ConfigFile& config, Console& console) {
  using Clock = std::chrono::steady_clock;
  const auto chosen = line.app.get_subcommands();
  if (chosen.empty()) {
    console.out += help_text(line.app, console);
    return ExitStatus::Fine;
  }
  console.quiet = line.common.quiet;
  use_message_files(line.common.messages);
  const auto began = Clock::now();
  const auto progress = start_progress(line.common, console);
  const ExitStatus status = line.actions.at(chosen.front())(console);
  if (progress) progress->clear();
  if (console.quiet) console.err.clear();
  if (line.common.verbose) {
    console.err += account(config, std::chrono::duration<double>(Clock::now() - began).count());
  }
  return status;
}

/// How the program is used can be asked whatever the configuration file holds.
bool asks_for_help(const std::vector<std::string>& arguments) {
  constexpr std::string_view kHelp[] = {"help", "--help", "-h", "--version"};
  return std::any_of(std::begin(kHelp), std::end(kHelp), [&](std::string_view flag) {
    const auto found = std::find(arguments.begin(), arguments.end(), flag);
    return found != arguments.end() && (flag != "help" || found == arguments.begin());
  });
}

}  // namespace

CommandRow declared_commands() {
  CommandLine line;
  declare(line);
  return command_table(line.app);
}

ExitStatus run_command_line(std::vector<std::string> arguments, Console& console) {
  if (!arguments.empty() && arguments.front() == kCompleteCommand) {
    // Not parsed: the words are half typed. Not configured: a broken file must not stop a shell.
    console.out += completions(declared_commands(), std::span(arguments).subspan(1));
    return ExitStatus::Fine;
  }
  CommandLine line;
  declare(line);
  ConfigFile config;
  try {
    config = find_config(arguments);
    apply_config(config, line.app);
  } catch (const Error&) {
    if (!asks_for_help(arguments)) throw;
  }
  if (!parse(line.app, std::move(arguments))) {
    console.out += help_text(chosen_command(line.app), console);
  } else if (line.wants_version) {
    console.out += fmt::format("ncclog {}\n", full_version());
  } else if (line.common.show_config) {
    console.out += describe_config(config, chosen_command(line.app));
  } else {
    return run(line, config, console);
  }
  return ExitStatus::Fine;
}

}  // namespace ncclog
