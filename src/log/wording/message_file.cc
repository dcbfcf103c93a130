#include "log/wording/message_file.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "log/wording/other_programs.h"

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
    kind.library = named("library", word("a library"), Library::Pasted);
    kind.subsystem = named("subsystem", word("a subsystem, or '-'"), Subsystem::Destroy, "-");
    skip_blanks();
    if (at_ < line_.size()) {
      const std::string_view text = word("typed");
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
      if (!is_field && begin == line_.find_first_not_of(" \t"))
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
    if (std::ranges::find(kind.fields, name, &FieldText::name) != kind.fields.end())
      fail_at(word_place_, "the field '" + field.name + "' stands twice");
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
        wording.recogniser = recogniser(word("the name of a recogniser"));
      } else {
        fail_unknown(word_place_, "word", text, {"quotable", "general", "by"});
      }
    }
  }

  /// The value of T whose name is `text`, the last word, out of all from the first to `last`.
  /// `none` is what files call a value without a name.
  template <typename T>
  T named(const std::string& what, std::string_view text, T last,
          std::string_view none = {}) const {
    Names known;
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      const auto value = static_cast<T>(i);
      known.push_back(to_string(value).empty() ? none : to_string(value));
      if (known.back() == text) return value;
    }
    fail_unknown(word_place_, what, text, known);
  }

  const Recogniser* recogniser(std::string_view name) const {
    Names known;
    for (const Recogniser& candidate : recognisers()) {
      if (candidate.name == name) return &candidate;
      known.push_back(candidate.name);
    }
    fail_unknown(word_place_, "recogniser", name, known);
  }

  /// "! fatal system  What it means.", "! never"
  void take_warning() {
    finish_wording();
    warning_ = {};
    warning_place_ = here();
    ++at_;
    warning_.severity = named("severity", word("a severity"), WarnSeverity::Fatal, "never");
    if (warning_.severity == WarnSeverity::None) return;
    warning_.origin =
        named("origin", word("an origin: system, user, internal or symptom"), WarnOrigin::Symptom);
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

// Wordings compiled for matching.

namespace {

/// How wordings call what holes take, in the order of HoleType; those of empty names say it
/// otherwise.
constexpr std::string_view kHoleNames[] = {"", "", "word", "int", "ints", "hex", "number"};

/// `count` bytes behind `place`, in the same line.
FilePlace place_behind(FilePlace place, size_t count) {
  place.column += static_cast<int>(count);
  return place;
}

/// Takes the literal at `at`, up to the next hole or the end; "{{" and "}}" are braces.
std::string_view take_literal(std::string_view text, size_t& at, WordingStore& store) {
  const size_t begin = at;
  std::string literal;
  bool is_escaped = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_brace = c == '{' || c == '}';
    const bool is_double = is_brace && at + 1 < text.size() && text[at + 1] == c;
    if (c == '{' && !is_double) break;
    if (is_double) ++at;
    is_escaped |= is_double;
    literal += c;
  }
  return is_escaped ? store.keep(std::move(literal)) : text.substr(begin, at - begin);
}

/// Index of the field of that name, which stands at `place`.
int field_of(std::string_view name, const FilePlace& place, std::span<const Field> fields) {
  Names known;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
    known.push_back(fields[i].name);
  }
  fail_at(place, "unknown field '" + std::string(name) + "'",
          hint_for(name, known, "list it, with its type, below the kind's name"));
}

/// Reads what stands behind the colon of a hole, at `place`: a type, or the words of a choice.
void read_hole_type(std::string_view text, const FilePlace& place, WordingStore& store,
                    PatternStep& step) {
  const auto* known = std::ranges::find(kHoleNames, text);
  if (!text.empty() && known != std::end(kHoleNames)) {
    step.hole = static_cast<HoleType>(known - kHoleNames);
    return;
  }
  step.hole = HoleType::Choice;
  Names& choices = store.choices.emplace_back(split(text, '|'));
  if (std::ranges::find(choices, "") != choices.end()) fail_at(place, "empty choice");
  std::ranges::stable_sort(choices, std::ranges::greater(), &std::string_view::size);
  step.choices = choices;
}

/// Reads the hole of `step`. `inside` stands between its braces, at `place`.
void read_hole(std::string_view inside, const FilePlace& place, std::span<const Field> fields,
               WordingStore& store, PatternStep& step) {
  step.hole = HoleType::Text;
  const bool is_rest = inside.ends_with("...");
  if (is_rest) inside.remove_suffix(3);
  const size_t colon = inside.find(':');
  const std::string_view name = inside.substr(0, colon);
  if (!name.empty()) {
    step.field = field_of(name, place, fields);
    constexpr HoleType kByFieldType[] = {HoleType::Text, HoleType::Integer, HoleType::Hex};
    const Field& field = fields[step.field];
    step.hole = kByFieldType[static_cast<size_t>(field.type)];
  }
  if (colon != inside.npos)
    read_hole_type(inside.substr(colon + 1), place_behind(place, colon + 1), store, step);
  if (is_rest) step.hole = HoleType::Rest;
}

}  // namespace

std::span<const PatternStep> compile_wording(std::string_view text, std::span<const Field> fields,
                                             const FilePlace& place, WordingStore& store) {
  std::vector<PatternStep>& steps = store.steps.emplace_back();
  for (size_t at = 0; at < text.size();) {
    PatternStep step;
    step.literal = take_literal(text, at, store);
    step.leading = leading_bytes(step.literal);
    if (at < text.size()) {
      if (step.literal.empty() && !steps.empty())
        fail_at(place_behind(place, at), "two holes side by side", "put a literal between them");
      const size_t close = text.find('}', at);
      if (close == text.npos)
        fail_at(place_behind(place, at), "unclosed hole", "write '{{' for a brace");
      read_hole(text.substr(at + 1, close - at - 1), place_behind(place, at + 1), fields, store,
                step);
      at = close + 1;
    }
    steps.push_back(step);
  }
  if (steps.empty()) fail_at(place, "the wording is empty");
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    PatternStep& step = steps[i];
    const bool is_end = i + 2 == steps.size() && steps[i + 1].hole == HoleType::None;
    step.next = steps[i + 1].literal;
    step.before_last = step.hole == HoleType::Text && is_end;
  }
  return steps;
}

// From kinds to the table.

namespace {

/// Of a wording that is added to the built-in ones, a few of which have less and were looked at.
constexpr size_t kFewestBytes = 5;

/// Where each wording of a file stands; those of known kinds are not here.
using Places = std::map<const Wording*, const WordingText*>;

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A kind under construction: where its parts come from.
struct Plan {
  const Kind* known = nullptr;         ///< nullptr: all of it is new.
  std::vector<const KindText*> added;  ///< In their order.
  bool is_replaced = false;            ///< The known wordings are taken away.
};

/// What of the wording is not a hole, blanks aside; the shortest word of a choice counts.
size_t own_bytes(const Wording& wording) {
  size_t bytes = 0;
  for (const PatternStep& step : wording.steps) {
    bytes +=
        static_cast<size_t>(std::ranges::count_if(step.literal, [](char c) { return c != ' '; }));
    if (!step.choices.empty()) bytes += step.choices.back().size();
  }
  return bytes;
}

class Builder {
 public:
  Builder(std::span<const Kind> known, std::span<const KindText> added, WordingTable& result)
      : result_(result), adds_(!known.empty()) {
    for (const Kind& kind : known) plan_of(kind.name).known = &kind;
    for (const KindText& kind : added) add(kind);
    for (const KindText& kind : added) {
      if (!kind.replaces.empty()) replace(kind);
    }
  }

  void build() {
    std::vector<Kind>& kinds = result_.own_kinds;
    kinds.reserve(plans_.size());
    for (const Plan& plan : plans_) kinds.push_back(kind_of(plan));
    for (size_t i = 0; i < plans_.size(); ++i) add_wordings(plans_[i], kinds[i]);
    result_.kinds = kinds;
    result_.enter_wordings();
  }

  const Places& places() const { return places_; }

 private:
  Plan& plan_of(std::string_view name) {
    const auto [entry, is_new] = by_name_.try_emplace(name, plans_.size());
    if (is_new) plans_.emplace_back();
    return plans_[entry->second];
  }

  void add(const KindText& kind) {
    Plan& plan = plan_of(kind.name);
    const std::string name = "the kind " + in_quotes(kind.name);
    if (!plan.added.empty()) {
      const FilePlace& other = plan.added.front()->place;
      fail_at(kind.place, name + " stands twice",
              "the other is at " + other.file + ":" + std::to_string(other.line));
    }
    if (plan.known != nullptr) {
      const bool is_same =
          plan.known->library == kind.library && plan.known->subsystem == kind.subsystem;
      if (!is_same || !kind.fields.empty()) {
        const std::string_view subsystem = to_string(plan.known->subsystem);
        fail_at(kind.place,
                name +
                    " is known already: more wordings need its own library and subsystem, "
                    "and list no fields",
                "begin it with '" + kind.name + "  " + std::string(to_string(plan.known->library)) +
                    " " + std::string(subsystem.empty() ? "-" : subsystem) + "'");
      }
    }
    plan.added.push_back(&kind);
  }

  void replace(const KindText& kind) {
    const auto entry = by_name_.find(kind.replaces);
    if (entry != by_name_.end() && plans_[entry->second].known != nullptr) {
      plans_[entry->second].is_replaced = true;
      return;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, plan] : by_name_) names.push_back(name);
    const auto near = nearest_name(kind.replaces, names);
    fail_at(kind.place, "replaces the kind " + in_quotes(kind.replaces) + ", which is not built in",
            near ? "did you mean " + in_quotes(*near) + "?" : "");
  }

  Kind kind_of(const Plan& plan) {
    Kind kind;
    if (plan.known != nullptr) {
      kind = *plan.known;
    } else {
      const KindText& text = *plan.added.front();
      kind.library = text.library;
      kind.source = source_of(text.library);
      kind.subsystem = text.subsystem;
      std::vector<Field>& fields = result_.fields.emplace_back();
      for (const FieldText& field : text.fields)
        fields.push_back({keep(field.name), field.type, keep(field.meaning)});
      kind.fields = fields;
      kind.name = keep(text.name);
      kind.meaning = keep(text.meaning);
    }
    kind.index = static_cast<uint16_t>(result_.own_kinds.size());
    return kind;
  }

  void add_wordings(const Plan& plan, Kind& kind) {
    std::vector<Wording>& wordings = result_.wordings.emplace_back();
    std::vector<const WordingText*> texts;
    if (plan.known != nullptr && !plan.is_replaced) {
      wordings.assign(plan.known->wordings.begin(), plan.known->wordings.end());
    }
    texts.resize(wordings.size());
    for (const KindText* added : plan.added) {
      for (const WordingText& text : added->wordings) {
        wordings.push_back(wording_of(text, kind));
        texts.push_back(&text);
      }
    }
    for (size_t i = 0; i < wordings.size(); ++i) {
      wordings[i].kind = &kind;
      if (texts[i] != nullptr) places_[&wordings[i]] = texts[i];
    }
    kind.wordings = wordings;
  }

  Wording wording_of(const WordingText& text, const Kind& kind) {
    Wording wording{.text = keep(text.text),
                    .example = keep(text.example),
                    .quotable = text.quotable,
                    .general = text.general};
    wording.warning = {text.severity, text.origin, keep(text.meaning)};
    wording.recogniser = text.recogniser;
    wording.steps = compile_wording(wording.text, kind.fields, text.place, result_.store);
    if (adds_ && wording.recogniser == nullptr && own_bytes(wording) < kFewestBytes)
      fail_at(text.place, "the wording has too little text of its own, and would fit anything");
    return wording;
  }

  std::string_view keep(const std::string& text) { return result_.store.keep(text); }

  WordingTable& result_;
  const bool adds_;  ///< There are known kinds.
  std::deque<Plan> plans_;
  std::map<std::string_view, size_t> by_name_;
  Places places_;
};

// Proves of wordings: what their kinds, and rules about them, count on.

[[noreturn]] void fail_example(const Wording& wording, const WordingText& text) {
  fail_at(place_behind(text.example_place, matched_bytes(wording, wording.example)),
          "the example does not fit its wording from here on",
          "the wording is " + in_quotes(wording.text));
}

/// No other wording fits the example, but for a general one after it in its kind.
void prove_alone(const Wording& wording, const WordingText& text, const WordingTable& table,
                 const Places& places) {
  const Source source = wording.kind->source;
  for (const Wording* other : table.all_matches(wording.example, source)) {
    const bool may_fit =
        other == &wording || (other->kind == wording.kind && other->general && other > &wording);
    if (may_fit) continue;
    fail_at(text.example_place,
            "the example also fits " + in_quotes(other->text) + " of the kind " +
                in_quotes(other->kind->name),
            places.contains(other)
                ? "make one of them narrower, or a later one of the same kind 'general'"
                : "wordings that are known already are tried first; say 'replaces: " +
                      std::string(other->kind->name) + "' to take them away");
  }
}

void prove_found(const Wording& wording, const WordingText& text, const WordingTable& table) {
  if (wording.is_only_asked()) return;
  const bool is_nccl = wording.kind->source == Source::Nccl;
  const Message found =
      is_nccl ? table.nccl.parse(wording.example) : table.foreign.parse(wording.example);
  if (found.wording != &wording)
    fail_at(text.example_place, "the example is not found by its wording's first words",
            "begin the wording with a word of its own");
  if (wording.quotable && table.foreign.parse(wording.example).wording == nullptr)
    fail_at(text.example_place, "the example is not found without a header");
}

/// Every hole with a name takes something of the example, and numbers are numbers.
void prove_filled(const Wording& wording, const WordingText& text, const Message& own) {
  for (const PatternStep& step : wording.steps) {
    if (step.field < 0 || wording.recogniser != nullptr) continue;
    const auto index = static_cast<size_t>(step.field);
    const Field& field = wording.kind->fields[index];
    const std::string_view taken = own.fields[index];
    const bool may_be_empty = step.hole == HoleType::Text || step.hole == HoleType::Rest;
    if (taken.empty() && !may_be_empty)
      fail_at(text.example_place,
              "the example leaves the field " + in_quotes(field.name) + " empty");
    const bool is_number = field.type == FieldType::Text || taken.empty() || taken == "(nil)" ||
                           (field.type == FieldType::Integer ? parse_int(taken).has_value()
                                                             : parse_hex(taken).has_value());
    if (!is_number)
      fail_at(text.example_place,
              in_quotes(taken) + " is no number for the field " + in_quotes(field.name));
  }
}

void prove_general(const Wording& wording, const WordingText& text) {
  const bool is_general = std::ranges::any_of(wording.kind->wordings, [&](const Wording& other) {
    Message ignored;
    return &other != &wording && match_wording(wording, other.example, ignored);
  });
  if (!is_general)
    fail_at(text.place, "the wording is said to be general, and fits no other one's example",
            "take the word 'general' away");
}

void prove_fields(const Kind& kind, const WordingText& text) {
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    const bool is_filled = std::ranges::any_of(kind.wordings, [&](const Wording& wording) {
      return wording.recogniser != nullptr ||
             std::ranges::any_of(wording.steps, [&](const PatternStep& step) {
               return step.field == static_cast<int>(i);
             });
    });
    if (!is_filled)
      fail_at(text.place, "no wording of the kind " + in_quotes(kind.name) + " fills its field " +
                              in_quotes(kind.fields[i].name));
  }
}

void prove(const Wording& wording, const WordingText& text, const WordingTable& table,
           const Places& places) {
  Message own;
  if (!match_wording(wording, wording.example, own)) return fail_example(wording, text);
  prove_alone(wording, text, table, places);
  prove_found(wording, text, table);
  prove_filled(wording, text, own);
  if (wording.general) prove_general(wording, text);
}

/// Proves all wordings of files.
void prove(const WordingTable& table, const Places& places) {
  for (const Kind& kind : table.kinds) {
    const auto text = places.find(kind.wordings.empty() ? nullptr : &kind.wordings.back());
    if (text == places.end()) continue;
    for (const Wording& wording : kind.wordings) {
      const auto own = places.find(&wording);
      if (own != places.end()) prove(wording, *own->second, table, places);
    }
    prove_fields(kind, *text->second);
  }
}

}  // namespace

void build_messages(std::span<const Kind> known, std::span<const KindText> added,
                    WordingTable& result) {
  Builder builder(known, added, result);
  builder.build();
  prove(result, builder.places());
}

}  // namespace ncclog
