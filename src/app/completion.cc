#include "app/completion.h"

#include <algorithm>

#include "base/text.h"

namespace ncclog {
namespace {

/// For share/bash-completion/completions/ncclog; needs no other script.
constexpr std::string_view kBashScript =
    R"sh(# bash completion for ncclog, written by 'ncclog completion bash'

_ncclog() {
  local program=ncclog cur="${COMP_WORDS[COMP_CWORD]}" word line
  local -a words=()
  COMPREPLY=()
  [[ "${COMP_WORDS[0]}" != */* ]] || program="${COMP_WORDS[0]/#\~/${HOME-}}"
  # To bash, the "=" of --format=json is a word of its own.
  [ "$cur" != "=" ] || cur=""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = "=" ] || words+=("$word")
  done
  while IFS= read -r line; do
    case "$line" in
      :more) compopt -o nospace 2>/dev/null ;;
      :files | :folders)
        compopt -o filenames 2>/dev/null
        [ "$line" = :files ] && word=-f || word=-d
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$word" -- "$cur")
        ;;
      "$cur"*) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$program" __complete "${words[@]}" "$cur" 2>/dev/null)
}

complete -F _ncclog ncclog
)sh";

/// For share/zsh/site-functions/_ncclog.
constexpr std::string_view kZshScript = R"sh(#compdef ncclog
# zsh completion for ncclog, written by 'ncclog completion zsh'

_ncclog() {
  local program=ncclog line place=''
  local -a offered described more
  [[ $words[1] != */* ]] || program=${~words[1]}
  offered=(${(f)"$($program __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
  for line in $offered; do
    case $line in
      :more) more=(-S '') ;;
      :*) place=$line ;;
      # _describe takes "word:what it is".
      *$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) described+=("${line//:/\\:}") ;;
    esac
  done
  compset -P '--*='
  local ret=1
  (( ! $#described )) || _describe 'completion' described "${more[@]}" && ret=0
  case $place in
    :files) _files && ret=0 ;;
    :folders) _files -/ && ret=0 ;;
  esac
  return ret
}

# Loaded from fpath the file is the function's body; read by `source` it has to be made known.
if [ "$funcstack[1]" = _ncclog ]; then
  _ncclog "$@"
else
  compdef _ncclog ncclog
fi
)sh";

/// For share/fish/vendor_completions.d/ncclog.fish.
constexpr std::string_view kFishScript =
    R"sh(# fish completion for ncclog, written by 'ncclog completion fish'

function __ncclog_offered
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program ncclog
    string match -q '*/*' -- $words[1]
    and set program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    # Of --format=json only the value is offered.
    set -l before (string match -r '^--[^=]+=' -- $word)
    set -l value (string replace -r '^--[^=]+=' '' -- $word)
    for line in ($program __complete $words "$word" 2>/dev/null)
        switch $line
            case :more
            case :files
                printf '%s\n' "$before"(__fish_complete_path "$value")
            case :folders
                printf '%s\n' "$before"(__fish_complete_directories "$value")
            case '*'
                printf '%s\n' "$before$line"
        end
    end
end

complete -c ncclog -f -a '(__ncclog_offered)'
)sh";

/// What the words before the cursor came to.
struct Typed {
  const CommandRow* command = nullptr;  ///< Never nullptr.
  const FlagRow* flag = nullptr;        ///< Waits for its value; nullptr: none does.
  size_t place = 0;                     ///< How many arguments stand there.
};

const CommandRow* command_below(const CommandRow& command, std::string_view word) {
  for (const CommandRow& below : command.commands) {
    if (last_word(below) == word) return &below;
  }
  return nullptr;
}

/// The flag of that name that takes a value.
const FlagRow* flag_with_value(const CommandRow& command, std::string_view name) {
  for (const FlagRow& flag : command.flags) {
    const bool is_named = std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end();
    if (is_named && !flag.value.empty()) return &flag;
  }
  return nullptr;
}

Typed typed_before(const CommandRow& root, std::span<const std::string> words) {
  Typed typed{.command = &root};
  for (const std::string& word : words) {
    if (typed.flag != nullptr) {
      typed.flag = nullptr;  // This word is its value.
    } else if (word.size() > 1 && word.starts_with('-')) {
      typed.flag = flag_with_value(*typed.command, word);  // "--format=json" waits for nothing.
    } else if (const CommandRow* below = command_below(*typed.command, word)) {
      typed.command = below;
    } else {
      ++typed.place;
    }
  }
  return typed;
}

std::string command_lines(const CommandRow& above) {
  std::string out;
  for (const CommandRow& command : above.commands) {
    out += last_word(command) + "\t" + command.help + "\n";
  }
  return out;
}

std::string flag_lines(const CommandRow& command) {
  std::string out;
  for (const FlagRow& flag : command.flags) {
    for (const std::string& name : flag.names) out += name + "\t" + flag.help + "\n";
  }
  return out;
}

/// "op,rank", "op,size", … where "op,r" is typed: no word twice.
std::string list_lines(const std::vector<std::string>& words, std::string_view typed) {
  const std::string_view before = typed.substr(0, typed.rfind(',') + 1);
  const std::vector<std::string_view> listed = split(before, ',');
  std::string out;
  for (const std::string& word : words) {
    if (std::find(listed.begin(), listed.end(), word) != listed.end()) continue;
    out += std::string(before) + word + "\n";
  }
  return out + ":more\n";
}

std::string value_lines(const CommandRow& root, const FlagRow& flag, std::string_view typed) {
  const std::vector<std::string> words = value_words(flag);
  switch (argument_kind(flag)) {
    case ArgumentKind::WordList:
      return list_lines(words, typed);
    case ArgumentKind::File:
      return ":files\n";
    case ArgumentKind::Folder:
      return ":folders\n";
    case ArgumentKind::Command:
      return command_lines(root);
    case ArgumentKind::Profile:
      return join(words, "\n") + "\n:files\n";
    case ArgumentKind::Word:
    case ArgumentKind::Rule:
    case ArgumentKind::Table:
      return join(words, "\n") + "\n";
    case ArgumentKind::None:
    case ArgumentKind::Text:
      return "";
  }
  return "";
}

/// Of the argument at that place: the last one may be one that repeats.
const FlagRow* argument_at(const CommandRow& command, size_t place) {
  const auto& arguments = command.arguments;
  if (place < arguments.size()) return &arguments[place];
  return !arguments.empty() && arguments.back().repeats ? &arguments.back() : nullptr;
}

}  // namespace

std::string completions(const CommandRow& root, std::span<const std::string> words) {
  if (words.empty()) return command_lines(root);
  const std::string_view word = words.back();
  const Typed typed = typed_before(root, words.first(words.size() - 1));
  if (typed.flag != nullptr) return value_lines(root, *typed.flag, word);
  if (const size_t equals = word.find('='); word.starts_with("--") && equals != word.npos) {
    const FlagRow* flag = flag_with_value(*typed.command, word.substr(0, equals));
    return flag == nullptr ? "" : value_lines(root, *flag, word.substr(equals + 1));
  }
  if (word.starts_with('-')) return flag_lines(*typed.command);
  if (!typed.command->commands.empty()) return command_lines(*typed.command);
  const FlagRow* argument = argument_at(*typed.command, typed.place);
  return argument == nullptr ? "" : value_lines(root, *argument, word);
}

std::optional<std::string_view> completion_script(std::string_view shell) {
  if (shell == "bash") return kBashScript;
  if (shell == "zsh") return kZshScript;
  if (shell == "fish") return kFishScript;
  return std::nullopt;
}

}  // namespace ncclog
