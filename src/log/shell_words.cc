#include "log/shell_words.h"

#include "base/text.h"

namespace ncclog {
namespace {

/// Comments that schedulers read: Slurm, PBS, LSF, Grid Engine.
constexpr std::string_view kDirectives[] = {"#SBATCH", "#PBS", "#BSUB", "#$"};

/// Cuts a script into commands. Invariant: `at_` is at most the length of `text_`.
class WordReader {
 public:
  WordReader(std::string_view text, const std::function<void(const ShellCommandWords&)>& use)
      : text_(text), use_(use) {}

  void read() {
    while (at_ < text_.size()) step();
    end_command();
  }

 private:
  char here() const { return text_[at_]; }
  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  void step() {
    const char c = here();
    if (c == ';' && text_.substr(at_, 2) == ";;") {
      end_command();
      use_({{";;", line_, false}});
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
    if (!words_.empty()) use_(words_);
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
  const std::function<void(const ShellCommandWords&)>& use_;
  size_t at_ = 0;
  uint64_t line_ = 1;
  bool in_word_ = false;
  ShellWord word_;
  ShellCommandWords words_;
};

}  // namespace

void for_each_command(std::string_view script,
                      const std::function<void(const ShellCommandWords& words)>& use) {
  WordReader(script, use).read();
}

}  // namespace ncclog
