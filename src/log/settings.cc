#include "log/settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"

namespace ncclog {

// nccl.conf.

std::vector<Setting> read_conf_settings(std::string_view text) {
  std::vector<Setting> settings;
  uint64_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    const size_t equals = line.find('=');
    if (line.starts_with('#') || equals == line.npos) continue;
    settings.push_back({.name = std::string(line.substr(0, equals)),
                        .value = std::string(line.substr(equals + 1)),
                        .line = number});
  }
  return settings;
}

namespace {

// A shell script as simple commands: words without their quotes, and where each stands.
//
//   export A="x y" \        → export | A=x y | B=$C (expands)
//     B=$C   # why          → a comment is none
//   if a; then b 'c;d'; fi  → if a | then b c;d | fi
//
// This is what is needed to see which variables a script sets, no shell: nothing is expanded,
// nothing is run. Every text is a script; what is never closed ends with the text.

struct ShellWord {
  std::string text;      ///< Without quotes and backslashes.
  uint64_t line = 0;     ///< Where it begins, from 1.
  bool expands = false;  ///< It holds '$' or '`' that a shell would replace.
};

using ShellCommandWords = std::vector<ShellWord>;

/// Comments that schedulers read: Slurm, PBS, LSF, Grid Engine.
constexpr std::string_view kDirectives[] = {"#SBATCH", "#PBS", "#BSUB", "#$"};

/// Cuts a script into the simple commands that have words, in order. Commands end at line ends,
/// ';', '|', '&' and parentheses. Lines of here-documents count as commands. `#SBATCH` and its like
/// are a command whose first word is "#SBATCH", and so is the ";;" of `case`. Invariant: `at_` is
/// at most the length of `text_`.
class CommandReader {
 public:
  explicit CommandReader(std::string_view text) : text_(text) {}

  std::vector<ShellCommandWords> read() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  char here() const { return text_[at_]; }
  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  void step() {
    const char c = here();
    if (c == ';' && text_.substr(at_, 2) == ";;") {
      end_command();
      commands_.push_back({{";;", line_, false}});
      at_ += 2;
    } else if (c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
      end_command();
      next();
    } else if (is_blank(c) || c == '\r') {
      end_word();
      next();
    } else if (c == '#' && !in_word_) {
      comment();
    } else {
      begin_word();
      part_of_word(c);
    }
  }

  void part_of_word(char c) {
    if (c == '\\') return escaped();
    if (c == '\'') return single_quoted();
    if (c == '"') return double_quoted();
    if (c == '$' || c == '`') return expansion();
    word_.text += c;
    next();
  }

  void escaped() {
    next();
    if (at_ >= text_.size()) return;
    if (is('\r') && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') next();
    if (!is('\n')) {
      word_.text += here();
    } else if (word_.text.empty()) {
      in_word_ = false;  // A line that goes on with blanks begins no word.
    }
    next();
  }

  void single_quoted() {
    next();
    while (at_ < text_.size() && here() != '\'') keep();
    next();
  }

  void double_quoted() {
    next();
    while (at_ < text_.size() && here() != '"') {
      if (here() == '\\' && at_ + 1 < text_.size()) {
        next();
        if (here() == '\n') {
          next();
          continue;
        }
      } else if (here() == '$' || here() == '`') {
        word_.expands = true;
      }
      keep();
    }
    next();
  }

  /// "$NAME", "${NAME:-x}", "$(command)", "`command`": kept as it stands.
  void expansion() {
    word_.expands = true;
    const bool command = here() == '`';
    keep();
    if (command) return keep_to('`');
    if (is('{')) return keep_to('}');
    if (is('(')) return keep_parentheses();
  }

  void keep_to(char close) {
    while (at_ < text_.size() && here() != close && here() != '\n') keep();
    if (is(close)) keep();
  }

  void keep_parentheses() {
    int open = 0;
    while (at_ < text_.size() && here() != '\n') {
      if (here() == '(') ++open;
      if (here() == ')') --open;
      keep();
      if (open == 0) return;
    }
  }

  void comment() {
    const size_t end = text_.find('\n', at_);
    const std::string_view rest = text_.substr(at_, end - at_);
    for (const std::string_view directive : kDirectives) {
      if (!words_.empty() || !rest.starts_with(directive)) continue;
      if (rest.size() > directive.size() && !is_blank(rest[directive.size()])) continue;
      begin_word();
      word_.text = directive;
      at_ += directive.size();
      return end_word();
    }
    at_ = end == text_.npos ? text_.size() : end;
  }

  void begin_word() {
    if (in_word_) return;
    word_ = {{}, line_, false};
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    in_word_ = false;
  }

  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::move(words_));
    words_.clear();
  }

  void keep() {
    word_.text += here();
    next();
  }

  void next() {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint64_t line_ = 1;
  bool in_word_ = false;
  ShellWord word_;
  ShellCommandWords words_;
  std::vector<ShellCommandWords> commands_;
};

// What the commands set.

/// Commands quoted in commands are read this deep: ssh host 'bash -c "export A=b"'.
constexpr int kMaxDepth = 3;

/// Where the "=" of "NAME=value" stands; npos if the text is no assignment.
size_t equals_sign(std::string_view text) {
  const size_t equals = text.find('=');
  return equals != text.npos && is_variable_name(text.substr(0, equals)) ? equals : text.npos;
}

bool is_assignment(std::string_view text) { return equals_sign(text) != text.npos; }

/// Words before a command proper that change nothing about its settings.
constexpr std::string_view kOpenings[] = {"then", "else",  "do",   "{",       "!",
                                          "time", "nohup", "exec", "command", "sudo"};

/// "-x NAME=value" of mpirun, "-e" of docker, "--env" of many.
constexpr std::string_view kSettingFlags[] = {"-x", "-e", "--env", "-env", "--export", "-v", "-E"};

/// "-genv NAME value" of MPICH and Intel MPI.
constexpr std::string_view kPairFlags[] = {"-genv", "-env", "--genv"};

/// Gathers what the commands of one script set.
class SettingReader {
 public:
  SettingReader(ShellSettings& out, uint64_t first_line, int depth, int& scopes)
      : out_(out), first_line_(first_line), depth_(depth), scopes_(scopes) {}

  void read(std::string_view script, int scope) {
    base_scope_ = scope;
    for (const ShellCommandWords& words : CommandReader(script).read()) command(words);
    mark_earlier();
  }

 private:
  void command(const ShellCommandWords& words) {
    size_t at = 0;
    follow_branches(words.front().text);
    if (words.front().text == ";;") return;
    while (at < words.size() && equals_one_of(words[at].text, kOpenings)) ++at;
    const size_t first = at;
    while (at < words.size() && is_assignment(words[at].text)) ++at;
    // NAME=value without a command sets a variable of the script itself.
    const bool is_alone = at == words.size();
    const int scope = at > first && !is_alone ? ++scopes_ : base_scope_;
    for (size_t i = first; i < at; ++i)
      add(words[i], words[i].text, scope, !is_alone || all_exported_);
    if (!is_alone) named_command(words, at, scope);
  }

  void named_command(const ShellCommandWords& words, size_t at, int scope) {
    constexpr std::string_view kExports[] = {"export", "declare", "typeset", "readonly", "local"};
    const std::string_view name = words[at].text;
    if (equals_one_of(name, kExports)) return exports(words, at + 1, name);
    if (name == "set") return set_flags(words, at + 1);
    if (name == "unset" || name == "unsetenv") return unsets(words, at + 1);
    if (name == "setenv" && at + 2 < words.size()) return pair(words[at + 1], words[at + 2], scope);
    if (name == "echo" || name == "printf") return;
    program(words, at, scope);
  }

  void exports(const ShellCommandWords& words, size_t at, std::string_view how) {
    bool exported = how == "export";
    for (; at < words.size(); ++at) {
      const std::string_view word = words[at].text;
      if (word == "-n") return;
      if (word.starts_with('-')) {
        exported = exported || word.find('x') != word.npos;
      } else if (is_assignment(word)) {
        add(words[at], word, base_scope_, exported || all_exported_);
      } else if (exported) {
        exported_names_.emplace(word);
      }
    }
  }

  void set_flags(const ShellCommandWords& words, size_t at) {
    for (; at < words.size(); ++at) {
      const std::string_view word = words[at].text;
      const bool has_next = at + 1 < words.size();
      if (word == "-o" && has_next) all_exported_ |= words[at + 1].text == "allexport";
      // "-a" and "-eua", but not "--", behind which words are no flags.
      if (word == "--") return;
      if (word.starts_with('-') && word.find('a') != word.npos) all_exported_ = true;
      if (word == "+a") all_exported_ = false;
    }
  }

  void unsets(const ShellCommandWords& words, size_t at) {
    for (; at < words.size(); ++at) unset_before_[words[at].text] = out_.settings.size();
  }

  /// Any other program: env, srun, mpirun, docker, ssh, bash -c …
  void program(const ShellCommandWords& words, size_t at, int scope) {
    if (scope == base_scope_ && !words[at].text.starts_with('#')) scope = ++scopes_;
    for (++at; at < words.size(); ++at) {
      const ShellWord& word = words[at];
      const bool has_next = at + 1 < words.size();
      if (equals_one_of(word.text, kPairFlags) && at + 2 < words.size() &&
          is_variable_name(words[at + 1].text)) {
        pair(words[at + 1], words[at + 2], scope);
        at += 2;
      } else if (equals_one_of(word.text, kSettingFlags) && has_next) {
        ++at;
        listed(words[at], words[at].text, scope);
      } else {
        argument(word, scope);
      }
    }
  }

  void argument(const ShellWord& word, int scope) {
    constexpr std::string_view kLists[] = {"--export=", "--env=", "-v", "-e", "-x"};
    for (const std::string_view flag : kLists) {
      if (word.text.starts_with(flag)) {
        return listed(word, std::string_view(word.text).substr(flag.size()), scope);
      }
    }
    if (is_assignment(word.text)) return add(word, word.text, scope, true);
    const bool is_command = word.text.find("NCCL") != word.text.npos &&
                            word.text.find_first_of(" \t\n;") != word.text.npos;
    if (is_command && depth_ < kMaxDepth) {
      SettingReader inner(out_, first_line_ + word.line - 1, depth_ + 1, scopes_);
      inner.read(word.text, scope);
    }
  }

  /// "A=b", "A" and "ALL,A=b,C=d"; a comma before a name that is set ends a value.
  void listed(const ShellWord& word, std::string_view list, int scope) {
    std::string_view rest = list;
    while (!rest.empty()) {
      size_t end = rest.find(',');
      while (end != rest.npos && !starts_item(rest.substr(end + 1))) end = rest.find(',', end + 1);
      const std::string_view item = rest.substr(0, end);
      if (is_assignment(item)) {
        add(word, item, scope, true);
      } else if (is_variable_name(item) && item != "ALL" && item != "NONE") {
        out_.handed_on.push_back(
            {.name = std::string(item), .line = first_line_ + word.line - 1, .literal = false});
      }
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
  }

  static bool starts_item(std::string_view text) {
    const std::string_view item = text.substr(0, text.find(','));
    constexpr std::string_view kNames = "NCCL_";
    return is_assignment(item) || item.find(kNames) != item.npos;
  }

  void pair(const ShellWord& name, const ShellWord& value, int scope) {
    if (!is_variable_name(name.text)) return;
    add({.line = name.line, .expands = value.expands}, name.text + '=' + value.text, scope, true);
  }

  /// `assignment` stands in `word`, or is made of two.
  void add(const ShellWord& word, std::string_view assignment, int scope, bool exported) {
    const size_t equals = equals_sign(assignment);
    const std::string_view value = assignment.substr(equals + 1);
    const bool literal = !word.expands || value.find_first_of("$`") == value.npos;
    out_.settings.push_back({std::string(assignment.substr(0, equals)), std::string(value),
                             first_line_ + word.line - 1, literal, exported, scope,
                             branches_.empty() ? 0 : branches_.back(), false});
  }

  /// if, for, while and case open a branch; else and ";;" begin the next one.
  void follow_branches(std::string_view word) {
    constexpr std::string_view kOpen[] = {"if", "for", "while", "until", "case"};
    constexpr std::string_view kNext[] = {"elif", "else", ";;"};
    constexpr std::string_view kClose[] = {"fi", "done", "esac"};
    if (equals_one_of(word, kOpen)) branches_.push_back(++last_branch_);
    if (branches_.empty()) return;
    if (equals_one_of(word, kNext)) branches_.back() = ++last_branch_;
    if (equals_one_of(word, kClose)) branches_.pop_back();
  }

  /// "A=b" and further down "export A" or "unset A".
  void mark_earlier() {
    if (exported_names_.empty() && unset_before_.empty()) return;
    for (size_t i = 0; i < out_.settings.size(); ++i) {
      Setting& setting = out_.settings[i];
      if (exported_names_.contains(setting.name)) setting.exported = true;
      if (setting.scope != base_scope_) continue;
      const auto unset = unset_before_.find(setting.name);
      if (unset != unset_before_.end() && i < unset->second) setting.unset = true;
    }
  }

  ShellSettings& out_;
  uint64_t first_line_;
  int depth_;
  int& scopes_;
  int base_scope_ = 0;
  bool all_exported_ = false;
  int last_branch_ = 0;
  std::vector<int> branches_;
  std::set<std::string, std::less<>> exported_names_;
  std::map<std::string, size_t> unset_before_;  ///< Settings of that name before that place.
};

}  // namespace

bool is_variable_name(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_word);
}

ShellSettings read_shell_settings(std::string_view script, uint64_t first_line) {
  ShellSettings found;
  int scopes = 0;
  SettingReader(found, first_line, 0, scopes).read(script, 0);
  return found;
}

}  // namespace ncclog
