// One function a command; _arguments does the rest.

#include <fmt/format.h>

#include "app/write_completion.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// "_ncclog_rules_new"; "_ncclog" for ncclog itself.
std::string function_name(const CommandRow& command) {
  std::string name = "_ncclog";
  for (const char c : command.path.empty() ? "" : "_" + command.path) {
    name += is_alpha(c) || is_digit(c) ? c : '_';
  }
  return name;
}

/// Text between single quotes, with those signs escaped that `special` names.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

/// What completes a value, behind the last ":".
std::string action(const FlagRow& flag) {
  const std::string words = join(value_words(flag), " ");
  switch (argument_kind(flag)) {
    case ArgumentKind::Word:
    case ArgumentKind::Rule:
    case ArgumentKind::Table:
      return fmt::format("({})", words);
    case ArgumentKind::WordList:
      return fmt::format("_values -s , word {}", words);
    case ArgumentKind::Profile:
      return fmt::format("_alternative \"profiles:profile:({})\" \"files:file:_files\"", words);
    case ArgumentKind::File:
      return "_files";
    case ArgumentKind::Folder:
      return "_files -/";
    case ArgumentKind::Command:
      return "_ncclog_commands";
    case ArgumentKind::None:
    case ArgumentKind::Text:
      return " ";
  }
  return " ";
}

std::string flag_specs(const FlagRow& flag) {
  std::string out;
  for (const std::string& name : flag.names) {
    const bool is_long = name.starts_with("--");
    const std::string_view joint = flag.value.empty() ? "" : is_long ? "=" : "+";
    out += fmt::format("    '{}{}{}[{}]", flag.repeats ? "*" : "", name, joint,
                       escaped(flag.help, "[]:\\"));
    if (!flag.value.empty()) {
      out += fmt::format(":{}:{}", escaped(flag.value, ":\\"), escaped(action(flag), ""));
    }
    out += "' \\\n";
  }
  return out;
}

std::string argument_spec(const FlagRow& argument) {
  return fmt::format("    '{}:{}:{}' \\\n", argument.repeats ? "*" : "",
                     escaped(argument.value, ":\\"), escaped(action(argument), ""));
}

/// The function that describes the commands below one.
std::string describe_function(const CommandRow& command) {
  std::string out = function_name(command) + "_commands() {\n  local -a commands=(\n";
  for (const CommandRow& below : command.commands) {
    out +=
        fmt::format("    '{}:{}'\n", escaped(last_word(below), ":\\"), escaped(below.help, ":\\"));
  }
  return out + "  )\n  _describe command commands\n}\n\n";
}

std::string command_function(const CommandRow& command) {
  std::string out = function_name(command) + "() {\n";
  if (!command.commands.empty()) out += "  local curcontext=\"$curcontext\" state line\n";
  out += command.commands.empty() ? "  _arguments -s \\\n" : "  _arguments -s -C \\\n";
  for (const FlagRow& flag : command.flags) out += flag_specs(flag);
  if (command.commands.empty()) {
    for (const FlagRow& argument : command.arguments) out += argument_spec(argument);
    return out + "    && return\n}\n\n";
  }
  out += fmt::format("    '1:command:{}_commands' \\\n    '*::argument:->below' && return\n",
                     function_name(command));
  out += "  case \"$state:$words[1]\" in\n";
  for (const CommandRow& below : command.commands) {
    out += fmt::format("    below:{}) {} ;;\n", last_word(below), function_name(below));
  }
  return out + "  esac\n}\n\n";
}

}  // namespace

std::string write_zsh_completion(const CommandRow& root) {
  std::string out =
      "#compdef ncclog\n# zsh completion for ncclog, written by 'ncclog completion zsh'\n\n";
  for (const CommandRow* command : all_commands(root)) {
    if (!command->commands.empty()) out += describe_function(*command);
    out += command_function(*command);
  }
  // Loaded from fpath the file is the function's body; read by `source` it has to be made known.
  return out +
         "if [ \"$funcstack[1]\" = _ncclog ]; then\n  _ncclog \"$@\"\nelse\n"
         "  compdef _ncclog ncclog\nfi\n";
}

}  // namespace ncclog
