// One line a flag; a function of the script says which command is being typed.

#include <fmt/format.h>

#include <algorithm>

#include "app/write_completion.h"
#include "base/text.h"

namespace ncclog {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string condition(const CommandRow& command) {
  return in_quotes(fmt::format("__ncclog_at {}", command.path.empty() ? "''" : command.path));
}

/// What completes a value: "-a 'text json'", "-F" for files; empty: nothing can be listed.
std::string answer(const FlagRow& flag) {
  std::vector<std::string> words = value_words(flag);
  switch (argument_kind(flag)) {
    case ArgumentKind::File:
      return " -F";
    case ArgumentKind::Folder:
      return " -f -a " + in_quotes("(__fish_complete_directories)");
    case ArgumentKind::Profile:
      return " -F -a " + in_quotes(join(words, " "));
    case ArgumentKind::WordList:
      return fmt::format(" -f -a {}",
                         in_quotes(fmt::format("(__fish_append , {})", join(words, " "))));
    case ArgumentKind::Command:
    case ArgumentKind::None:
      return " -f";
    default:
      return words.empty() ? " -f" : " -f -a " + in_quotes(join(words, " "));
  }
}

std::string flag_line(const CommandRow& command, const FlagRow& flag) {
  std::string out = fmt::format("complete -c ncclog -n {}", condition(command));
  for (const std::string& name : flag.names) {
    const bool is_long = name.starts_with("--");
    out += fmt::format(" -{} {}", is_long ? "l" : "s", name.substr(is_long ? 2 : 1));
  }
  if (!flag.value.empty()) out += " -r" + answer(flag);
  return out + " -d " + in_quotes(flag.help) + "\n";
}

std::string command_lines(const CommandRow& command) {
  std::string out;
  for (const CommandRow& below : command.commands) {
    out += fmt::format("complete -c ncclog -n {} -f -a {} -d {}\n", condition(command),
                       last_word(below), in_quotes(below.help));
  }
  for (const FlagRow& argument : command.arguments) {
    const std::vector<std::string> words = value_words(argument);
    if (words.empty()) continue;
    out += fmt::format("complete -c ncclog -n {} -a {} -d {}\n", condition(command),
                       in_quotes(join(words, " ")), in_quotes(argument.help));
  }
  for (const FlagRow& flag : command.flags) out += flag_line(command, flag);
  return out;
}

/// The function that knows the commands: those with others below them first.
std::string at_function(const CommandRow& root) {
  std::string names;
  for (const CommandRow* command : all_commands(root)) {
    if (!command->path.empty()) names += " " + in_quotes(command->path);
  }
  return R"(# Whether the words typed so far name the command that the arguments name.
function __ncclog_at
    set -l words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        set -l longer (string join ' ' $words $word)
        contains -- $longer)" +
         names + R"(; or continue
        set words $words $word
    end
    test "$words" = "$argv"
end

)";
}

}  // namespace

std::string write_fish_completion(const CommandRow& root) {
  std::string out =
      "# fish completion for ncclog, written by 'ncclog completion fish'\n\n" + at_function(root);
  for (const CommandRow* command : all_commands(root)) out += command_lines(*command);
  return out;
}

}  // namespace ncclog
