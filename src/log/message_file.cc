#include "log/message_file.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "log/foreign_needs.h"

namespace ncclog {
namespace {

using Names = std::vector<std::string_view>;

constexpr size_t kMostMeaning = 240;  ///< Bytes: a meaning is one or two sentences.

[[noreturn]] void fail_unknown(const FilePlace& place, const std::string& what,
                               std::string_view name, const Names& known) {
  const auto near = nearest_name(name, known);
  std::string hint = near ? "did you mean '" + std::string(*near) + "'?" : "one of:";
  for (size_t i = 0; !near && i < known.size(); ++i) hint += " " + std::string(known[i]);
  fail_at(place, "unknown " + what + " '" + std::string(name) + "'", hint);
}

/// The value of T whose name is `word`, out of all from the first to `last`.
template <typename T>
std::optional<T> named(std::string_view word, T last, Names& known) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<T>(i);
    if (to_string(value) == word) return value;
    if (!to_string(value).empty()) known.push_back(to_string(value));
  }
  return std::nullopt;
}

/// Reads the lines of one file from top to bottom.
class Parser {
 public:
  explicit Parser(const std::string& file) { place_.file = file; }

  std::vector<KindText> parse(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
      ++place_.line;
      place_.column = 1;
      if (!is_valid_utf8(line)) fail_at(place_, "the line is not valid UTF-8");
      take(line.substr(0, line.find_last_not_of(" \t\r") + 1));
    }
    finish_kind();
    return std::move(kinds_);
  }

 private:
  void take(std::string_view line) {
    line_ = line;
    if (line.empty()) {
      comment_.clear();
      return;
    }
    if (line.front() == '#') return take_comment(line.substr(1));
    if (!is_blank(line.front())) return take_kind();
    const size_t indent = line.find_first_not_of(" \t");
    at_ = indent;
    if (line[indent] == '#') return;
    if (kinds_.empty()) fail_here("expected a kind: its name, its library, its subsystem");
    constexpr size_t kContinued = 4;
    if (indent >= kContinued) return take_more(line.substr(indent));
    more_ = nullptr;
    switch (line[indent]) {
      case '=':
        return take_wording();
      case '>':
        return take_example();
      case '@':
        return take_attributes();
      case '!':
        return take_warning();
      default:
        return line.substr(indent).starts_with("replaces:") ? take_replaces() : take_fields();
    }
  }

  void take_comment(std::string_view text) {
    if (!comment_.empty()) comment_ += '\n';
    comment_ += text.starts_with(' ') ? text.substr(1) : text;
  }

  /// "network_selected  nccl INIT  typed"
  void take_kind() {
    finish_kind();
    at_ = 0;
    KindText kind;
    kind.place = place_;
    kind.meaning = std::exchange(comment_, {});
    kind.name = word("a kind's name");
    const bool is_name = std::ranges::all_of(
        kind.name, [](char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z'); });
    if (!is_name || is_digit(kind.name.front()))
      fail_at(kind.place, "a kind's name has small letters, digits and '_' only");
    Names known;
    std::string_view text = word("a library");
    const auto library = named(text, Library::Pasted, known);
    if (!library) fail_unknown(word_place_, "library", text, known);
    kind.library = *library;
    known = {"-"};
    text = word("a subsystem, or '-'");
    const auto subsystem = named(text == "-" ? "" : text, Subsystem::Destroy, known);
    if (!subsystem) fail_unknown(word_place_, "subsystem", text, known);
    kind.subsystem = *subsystem;
    skip_blanks();
    if (at_ < line_.size()) {
      text = word("typed");
      if (text != "typed") fail_unknown(word_place_, "word", text, {"typed"});
      kind.typed = true;
    }
    kinds_.push_back(std::move(kind));
    warning_ = {};
    more_ = nullptr;
  }

  /// "network:text  What it is.", or "rank:int  nranks:int"
  void take_fields() {
    KindText& kind = kinds_.back();
    if (!kind.wordings.empty()) fail_here("fields stand before the wordings");
    while (at_ < line_.size()) {
      const size_t begin = at_;
      const std::string_view text = word("a field");
      const size_t colon = text.find(':');
      const bool is_field = colon != text.npos && colon > 0 && colon + 1 < text.size() &&
                            std::ranges::all_of(text.substr(0, colon), is_word);
      if (!is_field && begin == first_of_line())
        fail_at(word_place_, "expected 'name:type', '=', '>', '@', '!' or 'replaces:'");
      if (!is_field) {
        kind.fields.back().meaning = line_.substr(word_begin_);
        break;
      }
      add_field(kind, text.substr(0, colon), text.substr(colon + 1));
      skip_blanks();
    }
    more_ = &kind.fields.back().meaning;
  }

  void add_field(KindText& kind, std::string_view name, std::string_view type) {
    FieldText field;
    field.name = name;
    if (type == "int64" || type == "int") {
      field.type = FieldType::Integer;
      field.wide = type == "int64";
    } else if (type == "hex") {
      field.type = FieldType::Hex;
    } else if (type != "text") {
      fail_unknown(word_place_, "type", type, {"text", "int", "int64", "hex"});
    }
    for (const FieldText& other : kind.fields) {
      if (other.name == name) fail_at(word_place_, "the field '" + field.name + "' stands twice");
    }
    if (kind.fields.size() == kMaxFields)
      fail_at(word_place_, "a kind has at most " + std::to_string(kMaxFields) + " fields");
    kind.fields.push_back(std::move(field));
  }

  void take_wording() {
    KindText& kind = kinds_.back();
    finish_wording();
    WordingText wording = warning_;
    wording.text = rest_of_line(wording.place);
    kind.wordings.push_back(std::move(wording));
  }

  void take_example() {
    WordingText& wording = last_wording();
    if (!wording.example.empty()) fail_here("a wording has one example");
    wording.example = rest_of_line(wording.example_place);
  }

  /// "@ quotable general by python_exception"
  void take_attributes() {
    WordingText& wording = last_wording();
    ++at_;
    while (skip_blanks(), at_ < line_.size()) {
      const std::string_view text = word("a word");
      if (text == "quotable") {
        wording.quotable = true;
      } else if (text == "general") {
        wording.general = true;
      } else if (text == "by") {
        wording.recogniser = word("the name of a recogniser");
        check_recogniser(wording.recogniser);
      } else {
        fail_unknown(word_place_, "word", text, {"quotable", "general", "by"});
      }
    }
  }

  void check_recogniser(std::string_view name) const {
    Names known;
    for (const KnownRecogniser& recogniser : known_recognisers()) known.push_back(recogniser.name);
    if (std::ranges::find(known, name) == known.end())
      fail_unknown(word_place_, "recogniser", name, known);
  }

  /// "! fatal system  What it means.", "! never"
  void take_warning() {
    finish_wording();
    warning_ = {};
    warning_place_ = here();
    ++at_;
    std::string_view text = word("a severity");
    if (text == "never") return;
    Names known;
    const auto severity = named(text, WarnSeverity::Fatal, known);
    known.push_back("never");
    if (!severity) fail_unknown(word_place_, "severity", text, known);
    warning_.severity = *severity;
    known.clear();
    text = word("an origin: system, user, internal or symptom");
    const auto origin = named(text, WarnOrigin::Symptom, known);
    if (!origin) fail_unknown(word_place_, "origin", text, known);
    warning_.origin = *origin;
    skip_blanks();
    warning_.meaning = line_.substr(std::min(at_, line_.size()));
    more_ = &warning_.meaning;
  }

  void take_replaces() {
    KindText& kind = kinds_.back();
    at_ += std::string_view("replaces:").size();
    if (!kind.replaces.empty()) fail_here("a kind replaces one other kind");
    kind.replaces = word("the name of a kind");
    skip_blanks();
    if (at_ < line_.size()) fail_here("expected nothing after the kind's name");
  }

  /// A further line of a meaning.
  void take_more(std::string_view text) {
    if (more_ == nullptr) fail_here("nothing before this line may go on");
    if (!more_->empty()) *more_ += ' ';
    *more_ += text;
  }

  /// What the parts of a kind have to say before the next begins.
  void finish_kind() {
    if (kinds_.empty()) return;
    finish_wording();
    if (kinds_.back().wordings.empty()) fail_at(kinds_.back().place, "the kind has no wording");
  }

  void finish_wording() {
    check_meaning();
    const KindText& kind = kinds_.back();
    if (kind.wordings.empty() || !kind.wordings.back().example.empty()) return;
    fail_at(kind.wordings.back().place, "the wording has no example",
            "add a line '> …' below it with what the log shows");
  }

  void check_meaning() {
    if (warning_.severity == WarnSeverity::None) return;
    const std::string& meaning = warning_.meaning;
    constexpr size_t kLeast = 20;
    const bool is_sentence = meaning.size() >= kLeast && meaning.ends_with('.');
    if (!is_sentence)
      fail_at(warning_place_,
              "a meaning is a sentence of 20 bytes or more that ends with a full stop");
    if (meaning.size() > kMostMeaning)
      fail_at(warning_place_, "the meaning has " + std::to_string(meaning.size()) + " bytes, and " +
                                  std::to_string(kMostMeaning) + " at most");
  }

  WordingText& last_wording() {
    if (kinds_.back().wordings.empty()) fail_here("expected a wording ('= …') first");
    return kinds_.back().wordings.back();
  }

  /// What follows the mark at at_, unescaped; `place` is set to where it begins.
  std::string rest_of_line(FilePlace& place) {
    ++at_;
    skip_blanks();
    place = here();
    if (at_ >= line_.size()) fail_here("expected a text after the mark");
    std::string text;
    for (; at_ < line_.size(); ++at_) {
      const char c = line_[at_];
      text += c == '\\' ? unescaped() : c;
    }
    return text;
  }

  /// "\t", "\\", "\x1b"; at_ is left on the last byte.
  char unescaped() {
    const std::string_view rest = line_.substr(at_ + 1);
    if (rest.starts_with('t') || rest.starts_with('\\')) {
      ++at_;
      return rest.front() == 't' ? '\t' : '\\';
    }
    const auto value = parse_hex(rest.substr(std::min<size_t>(1, rest.size()), 2));
    constexpr size_t kHexEscape = 3;
    const bool is_line_end = value && (*value == '\n' || *value == 0);
    if (rest.size() < kHexEscape || rest.front() != 'x' || !value || is_line_end)
      fail_here("unknown escape", "\\t, \\\\ and \\xHH are known; \\x00 and \\x0a are not");
    at_ += kHexEscape;
    return static_cast<char>(*value);
  }

  size_t first_of_line() const { return line_.find_first_not_of(" \t"); }

  void skip_blanks() {
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
  }

  std::string_view word(const std::string& what) {
    skip_blanks();
    word_begin_ = at_;
    word_place_ = here();
    while (at_ < line_.size() && !is_blank(line_[at_])) ++at_;
    if (word_begin_ == at_) fail_here("expected " + what);
    return line_.substr(word_begin_, at_ - word_begin_);
  }

  FilePlace here() const {
    FilePlace place = place_;
    place.column = static_cast<int>(at_) + 1;
    return place;
  }

  [[noreturn]] void fail_here(const std::string& what, const std::string& hint = {}) const {
    fail_at(here(), what, hint);
  }

  FilePlace place_;        ///< Of the line.
  std::string_view line_;  ///< Without blanks at its end.
  size_t at_ = 0;          ///< Next byte of line_.
  size_t word_begin_ = 0;
  FilePlace word_place_;  ///< Of the last word.
  std::string comment_;   ///< Since the last empty line.
  WordingText warning_;   ///< What the next wordings mean; nothing else of it is set.
  FilePlace warning_place_;
  std::string* more_ = nullptr;  ///< What a further line goes on with.
  std::vector<KindText> kinds_;
};

}  // namespace

void fail_at(const FilePlace& place, const std::string& what, const std::string& hint) {
  const std::string where =
      place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  throw Error(what, where, hint);
}

std::vector<KindText> parse_message_file(std::string_view text, const std::string& file) {
  return Parser(file).parse(text);
}

}  // namespace ncclog
