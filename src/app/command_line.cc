#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

#include "app/configuration_file.h"
#include "app/help.h"
#include "app/read/progress.h"
#include "base/built_in.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/text.h"
#include "log/known_messages.h"
#include "log/wording/message_file.h"
#include "rules/load_rules.h"

namespace ncclog {

// Each in its command's file.
#include "app/command_declarations.inc"

namespace {

/// A row of commands.table.
struct NamedCommand {
  std::string_view name;
  std::string_view task;  ///< What it is for, as the help groups them; empty: an older name.
  std::string_view help;
  std::string_view page = {};  ///< "more": listed by 'help all' only.
};

constexpr NamedCommand kCommands[] = {
#include "app/commands.inc"
};

/// What declares each of them.
constexpr void (*kDeclare[])(CommandRow& command) = {
#include "app/command_functions.inc"
};

}  // namespace

size_t use_message_files(const std::vector<std::string>& paths) {
  std::vector<KindText> kinds;
  size_t count = 0;
  std::set<std::string> seen;  // A file may lie in a folder that is named, too.
  for (const std::string& path : paths) {
    for (const std::string& file : find_files(path, "message", {".messages"})) {
      std::error_code ignored;
      if (!seen.insert(std::filesystem::weakly_canonical(file, ignored)).second) continue;
      for (KindText& kind : parse_message_file(read_file(file), file)) {
        kinds.push_back(std::move(kind));
      }
      ++count;
    }
  }
  if (!kinds.empty()) add_messages(kinds);
  return count;
}

namespace {

/// The flags that every command has.
struct CommonOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool show_config = false;
  bool wants_version = false;
  std::string config;                 ///< Read before parsing, by find_config.
  std::vector<std::string> messages;  ///< Files and folders that add to the built-in messages.
};

/// Declares them for `command` and all below it. `options` must outlive the rows.
void add_common_flags(CommandRow& command, CommonOptions& options) {
  const auto add = [&command](std::string_view typed, auto& target, const char* help) {
    add_flag(command, kGeneralFlags, typed, target, help);
  };
  add("-q,--quiet", options.quiet, "only the verdict, in a line; no notes, no progress");
  add("-v,--verbose", options.verbose,
      "also what is harmless; on standard error what was read, and how fast");
  add("--no-progress", options.no_progress,
      "no progress line on the terminal, however long it takes");
  add("--config FILE", options.config, "a configuration file; '' for none");
  add("--messages DIR", options.messages,
      "a folder or file of messages that add to the built-in ones; may be repeated");
  add("--show-config", options.show_config, "print these flags' values and their sources");
  command.flags.push_back(
      {.names = {"-h", "--help"}, .help = "print this help", .group = kGeneralFlags});
  for (CommandRow& below : command.commands) add_common_flags(below, options);
}

constexpr std::string_view kNotes =
    "Start with:\n"
    "  ncclog analyze logs/        verdict, evidence, what to do\n"
    "  ncclog show ranks logs/     each rank's state and last line\n\n"
    "'ncclog help COMMAND' lists a command's flags; 'ncclog help TOPIC' explains: {}.\n\n"
    "'ncclog help all' lists further commands: {}.";

CommandRow declare_all(CommonOptions& common) {
  std::vector<std::string_view> topics;
  for (const EmbeddedFile& page : help_pages()) topics.push_back(topic_of(page));
  std::vector<std::string_view> further;
  for (const NamedCommand& command : kCommands) {
    if (!command.page.empty()) further.push_back(command.name);
  }
  CommandRow root{.help = "finds out from the logs of a multi-GPU job what went wrong with NCCL",
                  .notes = fmt::format(kNotes, fmt::join(topics, ", "), fmt::join(further, ", "))};
  add_flag(root, kGeneralFlags, "-V,--version", common.wants_version, "print the version");
  for (size_t i = 0; i < std::size(kCommands); ++i) {
    CommandRow& row = add_command(root, kCommands[i].name, std::string(kCommands[i].help));
    row.task = kCommands[i].task;
    row.is_further = !kCommands[i].page.empty();
    kDeclare[i](row);
    row.notes += text_of(row.path + ".txt").value_or("");
  }
  add_common_flags(root, common);
  return root;
}

// Parsing, by CLI11.

/// Lets CLI11 take a flag or an argument.
void declare(FlagRow& row, CLI::App& app) {
  const auto take = [&row](const std::vector<std::string>& values) {
    row.typed = values;
    row.set(values);
  };
  std::string names;
  for (const std::string& name : row.names) {
    names += (names.empty() ? "" : ",") + std::string(turns_off(row, name) ? "!" : "") + name;
  }
  const bool is_argument = row.names.empty();
  if (is_argument) names = row.value;
  if (!row.set) {
    app.set_help_flag(names);
  } else if (row.value.empty()) {
    const auto take_switch = [take](int64_t sum) { take({sum > 0 ? "true" : "false"}); };
    app.add_flag_function(names, take_switch)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  } else if (row.repeats) {
    CLI::Option* option = app.add_option_function<std::vector<std::string>>(names, take);
    option->type_name(is_argument ? "" : row.value);
    if (is_argument) return;
    option->expected(1)->allow_extra_args(false)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
  } else {
    const auto take_one = [take](const std::string& value) { take({value}); };
    app.add_option_function<std::string>(names, take_one)->type_name(is_argument ? "" : row.value);
  }
  if (!row.needs.empty()) app.get_option(main_name(row))->needs(app.get_option(row.needs));
}

void declare(CommandRow& command, CLI::App& app) {
  app.allow_extras();  // refuse_leftovers knows what was meant; CLI11 would only say no.
  for (FlagRow& argument : command.arguments) declare(argument, app);
  for (FlagRow& flag : command.flags) declare(flag, app);
  if (command.commands.empty()) return;
  app.require_subcommand(0, 1);
  for (CommandRow& below : command.commands)
    declare(below, *app.add_subcommand(std::string(last_word(below))));
}

/// The command that was typed: the deepest one.
const CommandRow& chosen_command(const CommandRow& command, const CLI::App& app) {
  for (const CommandRow& below : command.commands) {
    const CLI::App* sub = app.get_subcommand(std::string(last_word(below)));
    if (sub->parsed()) return chosen_command(below, *sub);
  }
  return command;  // NOLINT(bugprone-return-const-ref-from-parameter): rows outlive the call.
}

/// "--json" is a word of --format to commands that have no flag of that name.
std::string format_hint(const CommandRow& command, std::string_view word) {
  const std::string format(word.substr(std::min<size_t>(2, word.size())));
  for (const FlagRow& flag : command.flags) {
    const std::vector<std::string> words = value_words(flag);
    const auto known = std::ranges::find_if(words, [&](const std::string& one) {
      return one == format || (format == "md" && one == "markdown");
    });
    if (main_name(flag) != "--format" || known == words.end()) continue;
    return fmt::format("did you mean '--format {}'?", *known);
  }
  return {};
}

/// What the parser could not place is a misspelt flag or command, or a path without its command.
void refuse_leftovers(const CommandRow& command, const CLI::App& app) {
  std::vector<std::string> left = app.remaining(false);
  std::erase(left, "--");  // What stands behind it is an argument, whatever it looks like.
  if (!left.empty()) {
    const std::string word = left.front().substr(0, left.front().find('='));
    const bool is_flag = word.starts_with('-');
    std::vector<std::string_view> names;
    for (const FlagRow& flag : command.flags) {
      for (const std::string& name : flag.names) {
        if (is_flag && !flag.is_hidden && name.starts_with("--")) names.push_back(name);
      }
    }
    for (const CommandRow& below : command.commands) {
      if (!is_flag && !below.task.empty()) names.push_back(last_word(below));
    }
    const std::string meant = is_flag ? format_hint(command, word) : std::string();
    throw Error(fmt::format("unknown {} '{}'", is_flag ? "flag" : "command", printable(word)),
                std::string(last_word(command)), meant.empty() ? hint_for(word, names) : meant);
  }
  for (const CommandRow& below : command.commands) {
    const CLI::App* sub = app.get_subcommand(std::string(last_word(below)));
    if (sub->parsed()) refuse_leftovers(below, *sub);
  }
}

}  // namespace

TypedCommand parse_arguments(CommandRow& root, std::vector<std::string> arguments) {
  CLI::App app;
  declare(root, app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back.
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return {&chosen_command(root, app), /*wants_help=*/true};
  } catch (const CLI::ParseError& error) {
    // "--json: 1 required FILE missing"
    const std::string_view what = error.what();
    const std::string meant = what.starts_with("--") ? format_hint(chosen_command(root, app),
                                                                   what.substr(0, what.find(':')))
                                                     : std::string();
    throw Error(error.what(), "", meant.empty() ? "see 'ncclog --help'" : meant);
  }
  refuse_leftovers(root, app);
  return {&chosen_command(root, app)};
}

namespace {

/// Draws the progress while the command runs, where somebody can see it.
std::shared_ptr<ProgressLine> start_progress(const CommonOptions& common,
                                             std::shared_ptr<const ReadingProgress> progress,
                                             Console& console) {
  if (!console.draws_progress || common.no_progress || common.quiet) return nullptr;
  auto line = std::make_shared<ProgressLine>(std::move(progress));
  if (console.is_terminal && console.write) {
    // Output that is passed on while the command runs would be written into the line.
    console.write = [line, write = console.write](std::string_view text) {
      line->clear();
      return write(text);
    };
  }
  return line;
}

ExitStatus run(const CommandRow& command, const CommonOptions& common, const ConfigFile& config,
               Console& console) {
  using Clock = std::chrono::steady_clock;
  console.quiet = common.quiet;
  console.verbose = common.verbose;
  use_message_files(common.messages);
  const auto began = Clock::now();
  const auto progress = std::make_shared<ReadingProgress>();
  console.progress = progress.get();
  const auto line = start_progress(common, progress, console);
  ExitStatus status = ExitStatus::Fine;
  if (command.run) {
    status = command.run(console);
  } else {
    console.out += write_help(command, help_columns(console));
  }
  if (line) line->clear();
  console.progress = nullptr;
  if (console.quiet) console.err.clear();  // Notes; what cannot be done is thrown.
  if (common.verbose) {
    console.err += fmt::format("ncclog {}\n", full_version());
    if (!config.path.empty()) {
      console.err += fmt::format("configuration: {}\n", printable(config.path));
    }
    const std::string read = reading_summary(progress->snapshot());
    if (!read.empty()) console.err += read + "\n";
    const std::chrono::duration<double> passed = Clock::now() - began;
    console.err += fmt::format("{:.2f} s in all\n", passed.count());
  }
  return status;
}

/// What fingers type: "ncclog logs/", "ncclog -q logs/", and "ncclog version".
void complete_command(const CommandRow& root, std::vector<std::string>& arguments) {
  const auto is_command = [&](const std::string& word) {
    return find_command(root, word) != nullptr;
  };
  if (arguments.empty() || std::ranges::any_of(arguments, is_command)) return;
  const auto is_path = [](const std::string& word) {
    std::error_code ignored;
    if (word == "-") return true;
    return word.find_first_of("/.") != word.npos || std::filesystem::exists(word, ignored);
  };
  const auto first = std::ranges::find_if(
      arguments, [](const std::string& word) { return word == "-" || !word.starts_with('-'); });
  if (arguments.front() == "version") {
    arguments.front() = "--version";
  } else if (first != arguments.end() && is_path(*first)) {
    arguments.insert(arguments.begin(), "analyze");
  }
}

/// How the program is used can be asked whatever the configuration file holds.
bool asks_for_help(const std::vector<std::string>& arguments) {
  constexpr std::string_view kHelp[] = {"help", "--help", "-h", "--version", "-V"};
  return std::ranges::any_of(kHelp, [&](std::string_view flag) {
    const auto found = std::ranges::find(arguments, flag);
    return found != arguments.end() && (flag != "help" || found == arguments.begin());
  });
}

}  // namespace

CommandRow declared_commands() {
  CommonOptions common;  // Gone with this call: nobody types its flags to rows of this kind.
  return declare_all(common);
}

ExitStatus run_command_line(std::vector<std::string> arguments, Console& console) {
  if (!arguments.empty() && arguments.front() == kCompleteCommand) {
    // Not parsed: the words are half typed. Not configured: a broken file must not stop a shell.
    console.out += completions(declared_commands(), std::span(arguments).subspan(1));
    return ExitStatus::Fine;
  }
  CommonOptions common;
  CommandRow root = declare_all(common);
  complete_command(root, arguments);
  ConfigFile config;
  try {
    config = find_config(arguments);
    apply_config(config, root);
  } catch (const Error&) {
    if (!asks_for_help(arguments)) throw;
  }
  const auto [command, wants_help] = parse_arguments(root, std::move(arguments));
  if (!wants_help && common.wants_version) {
    console.out += fmt::format("ncclog {}\n", full_version());
  } else if (!wants_help && common.show_config) {
    console.out += describe_config(config, *command);
  } else if (wants_help || command == &root) {
    console.out += write_help(*command, help_columns(console));
  } else {
    return run(*command, common, config, console);
  }
  return ExitStatus::Fine;
}

}  // namespace ncclog
