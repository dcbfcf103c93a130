// The script walks the words before the cursor once: it knows then the command, whether a flag
// waits for its value, and how many arguments there were. One table each says what may follow.

#include <fmt/format.h>

#include "app/write_completion.h"
#include "base/text.h"

namespace ncclog {
namespace {

/// "ncclog rules new", as the script calls a command.
std::string key_of(const CommandRow& command) { return typed_name(command); }

/// What a value offers: "words a b", "list a b", "files", "folders", "both a b" or nothing.
std::string offer(const FlagRow& flag) {
  const std::string words = join(value_words(flag), " ");
  switch (argument_kind(flag)) {
    case ArgumentKind::Word:
    case ArgumentKind::Rule:
    case ArgumentKind::Table:
      return "words " + words;
    case ArgumentKind::WordList:
      return "list " + words;
    case ArgumentKind::Profile:
      return "both " + words;
    case ArgumentKind::File:
      return "files";
    case ArgumentKind::Folder:
      return "folders";
    case ArgumentKind::Command:
      return "commands";
    case ArgumentKind::None:
    case ArgumentKind::Text:
      return "";
  }
  return "";
}

std::string quoted_list(const std::vector<std::string>& patterns) {
  std::string text;
  for (const std::string& pattern : patterns) {
    text += (text.empty() ? "" : " | ") + fmt::format("'{}'", pattern);
  }
  return text;
}

/// A function that prints one answer for its argument.
class CaseFunction {
 public:
  explicit CaseFunction(std::string_view name)
      : text_(fmt::format("{}() {{\n  case \"$1\" in\n", name)) {}

  void add(const std::vector<std::string>& patterns, std::string_view answer) {
    if (!patterns.empty() && !answer.empty()) {
      text_ += fmt::format("    {}) echo '{}' ;;\n", quoted_list(patterns), answer);
    }
  }

  std::string finish() const { return text_ + "  esac\n}\n\n"; }

 private:
  std::string text_;
};

std::string commands_function(const CommandRow& root) {
  CaseFunction function("_ncclog_commands");
  for (const CommandRow* command : all_commands(root)) {
    std::vector<std::string> names;
    for (const CommandRow& below : command->commands) names.push_back(last_word(below));
    function.add({key_of(*command)}, join(names, " "));
  }
  return function.finish();
}

std::string flags_function(const CommandRow& root) {
  CaseFunction function("_ncclog_flags");
  for (const CommandRow* command : all_commands(root)) {
    std::vector<std::string> names;
    for (const FlagRow& flag : command->flags) {
      names.insert(names.end(), flag.names.begin(), flag.names.end());
    }
    function.add({key_of(*command)}, join(names, " "));
  }
  return function.finish();
}

/// Answers "value" for flags that take one and offer nothing.
std::string values_function(const CommandRow& root) {
  CaseFunction function("_ncclog_values");
  for (const CommandRow* command : all_commands(root)) {
    for (const FlagRow& flag : command->flags) {
      if (flag.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) patterns.push_back(key_of(*command) + " " + name);
      const std::string offered = offer(flag);
      function.add(patterns, offered.empty() ? "value" : offered);
    }
  }
  return function.finish();
}

/// By command and place, counted from 0; "many" is the argument that repeats.
std::string arguments_function(const CommandRow& root) {
  CaseFunction function("_ncclog_arguments");
  for (const CommandRow* command : all_commands(root)) {
    for (size_t i = 0; i < command->arguments.size(); ++i) {
      const FlagRow& argument = command->arguments[i];
      const std::string place = argument.repeats ? "many" : std::to_string(i);
      function.add({key_of(*command) + " " + place}, offer(argument));
    }
  }
  return function.finish();
}

constexpr std::string_view kHead =
    R"(# bash completion for ncclog, written by 'ncclog completion bash'

)";

constexpr std::string_view kWalk = R"sh(# Offers what $1 says for the word $2.
_ncclog_offer() {
  local kind="${1%% *}" words="${1#* }"
  case "$kind" in
    words) COMPREPLY=($(compgen -W "$words" -- "$2")) ;;
    list)
      local before=""
      case "$2" in *,*) before="${2%,*}," ;; esac
      COMPREPLY=($(compgen -P "$before" -W "$words" -- "${2##*,}"))
      compopt -o nospace 2>/dev/null
      ;;
    folders) mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    both) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$2"; compgen -f -- "$2") ;;
    commands) COMPREPLY=($(compgen -W "$(_ncclog_commands ncclog)" -- "$2")) ;;
    files) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
  esac
  case "$kind" in files | folders | both) compopt -o filenames 2>/dev/null ;; esac
}

_ncclog() {
  local cur="${COMP_WORDS[COMP_CWORD]}" command=ncclog flag="" word i
  local -i place=0
  COMPREPLY=()
  [ "$cur" != "=" ] || cur=""
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word="${COMP_WORDS[i]}"
    if [ "$word" = "=" ]; then
      continue
    elif [ -n "$flag" ]; then
      flag=""
    elif [[ "$word" == -?* ]]; then
      [ -z "$(_ncclog_values "$command $word")" ] || flag="$word"
    elif [[ " $(_ncclog_commands "$command") " == *" $word "* ]]; then
      command="$command $word"
    else
      place+=1
    fi
  done
  if [ -n "$flag" ]; then
    _ncclog_offer "$(_ncclog_values "$command $flag")" "$cur"
  elif [[ "$cur" == -* ]]; then
    COMPREPLY=($(compgen -W "$(_ncclog_flags "$command")" -- "$cur"))
  elif [ -n "$(_ncclog_commands "$command")" ]; then
    COMPREPLY=($(compgen -W "$(_ncclog_commands "$command")" -- "$cur"))
  else
    local offered="$(_ncclog_arguments "$command $place")"
    _ncclog_offer "${offered:-$(_ncclog_arguments "$command many")}" "$cur"
  fi
}

complete -F _ncclog ncclog
)sh";

}  // namespace

std::string write_bash_completion(const CommandRow& root) {
  return std::string(kHead) + commands_function(root) + flags_function(root) +
         values_function(root) + arguments_function(root) + std::string(kWalk);
}

}  // namespace ncclog
