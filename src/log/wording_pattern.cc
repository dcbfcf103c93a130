#include "log/wording_pattern.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/text.h"

namespace ncclog {
namespace {

[[noreturn]] void malformed(const Wording& wording, const char* why) {
  throw std::logic_error(std::string(why) + " in wording: " + std::string(wording.text));
}

HoleType hole_type_of(FieldType type) {
  switch (type) {
    case FieldType::Text:
      return HoleType::Text;
    case FieldType::Integer:
      return HoleType::Integer;
    case FieldType::Hex:
      return HoleType::Hex;
  }
  return HoleType::Text;
}

int field_index(const Kind& kind, std::string_view name) {
  for (size_t i = 0; i < kind.fields.size(); ++i) {
    if (kind.fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void apply_spec(const Wording& wording, PatternStep& step, std::string_view spec) {
  if (spec == "word") {
    step.hole = HoleType::Word;
  } else if (spec == "int") {
    step.hole = HoleType::Integer;
  } else if (spec == "hex") {
    step.hole = HoleType::Hex;
  } else if (spec == "ints") {
    step.hole = HoleType::Integers;
  } else {
    step.hole = HoleType::Choice;
    step.choices = split(spec, '|');
    if (std::find(step.choices.begin(), step.choices.end(), "") != step.choices.end())
      malformed(wording, "empty choice");
    std::stable_sort(step.choices.begin(), step.choices.end(),
                     [](auto a, auto b) { return a.size() > b.size(); });
  }
}

/// Fills `step` from what stands between the braces.
void parse_hole(const Kind& kind, const Wording& wording, std::string_view inside,
                PatternStep& step) {
  step.hole = HoleType::Text;
  const bool rest = inside.ends_with("...");
  if (rest) inside.remove_suffix(3);
  const size_t colon = inside.find(':');
  const std::string_view name = inside.substr(0, colon);
  if (!name.empty()) {
    step.field = field_index(kind, name);
    if (step.field < 0) malformed(wording, "unknown field");
    step.hole = hole_type_of(kind.fields[static_cast<size_t>(step.field)].type);
  }
  if (colon != inside.npos) apply_spec(wording, step, inside.substr(colon + 1));
  if (rest) step.hole = HoleType::Rest;
}

size_t integer_length(std::string_view text) {
  size_t n = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t sign = n;
  while (n < text.size() && is_digit(text[n])) ++n;
  return n == sign ? 0 : n;
}

/// is_hex_digit as a table: pointers are looked at byte by byte.
constexpr auto kIsHexDigit = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = is_hex_digit(static_cast<char>(c));
  return table;
}();

size_t hex_length(std::string_view text) {
  if (text.starts_with("(nil)")) return 5;
  const bool has_prefix = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const size_t prefix = has_prefix ? 2 : 0;
  size_t n = prefix;
  while (n < text.size() && kIsHexDigit[static_cast<unsigned char>(text[n])]) ++n;
  return n == prefix ? 0 : n;
}

size_t word_length(std::string_view text, std::string_view next) {
  size_t n = 0;
  while (n < text.size() && !is_blank(text[n])) ++n;
  if (!next.empty()) {
    const size_t found = text.substr(0, n + next.size()).find(next);
    if (found != text.npos) n = std::min(n, found);
  }
  return n;
}

/// Numbers separated by blanks, to the end of the text; NCCL ends a list that it cut with dots.
size_t integers_length(std::string_view text) {
  bool any = false;
  for (const char c : text) {
    if (!is_digit(c) && !is_blank(c) && c != '-' && c != '.') return 0;
    any |= is_digit(c);
  }
  return any ? text.size() : 0;
}

/// starts_with for words most of which differ in their first byte.
bool begins_with(std::string_view text, std::string_view word) {
  return !text.empty() && text.front() == word.front() && text.starts_with(word);
}

/// True if `text` begins with the step's literal.
inline bool begins_with_literal(std::string_view text, const PatternStep& step) {
  if (((bytes_at(text, 0) ^ step.leading.bytes) & step.leading.mask) != 0) return false;
  const size_t size = step.literal.size();
  if (size <= sizeof(uint64_t)) return size <= text.size();
  return text.starts_with(step.literal);
}

size_t choice_length(std::string_view text, const PatternStep& step) {
  for (const std::string_view choice : step.choices) {
    if (begins_with(text, choice)) return choice.size();
  }
  return 0;
}

constexpr size_t kNoMatch = static_cast<size_t>(-1);

/// The text before the last literal reaches to the end, whatever it holds: "'it's'" in quotes.
size_t length_before_last(std::string_view text, std::string_view last) {
  while (!last.empty() && is_blank(last.back())) last.remove_suffix(1);
  return text.ends_with(last) ? text.size() - last.size() : kNoMatch;
}

/// Bytes of `text` that the hole takes, or kNoMatch.
size_t hole_length(const PatternStep& step, std::string_view text) {
  const std::string_view next = step.next;
  const auto some = [](size_t n) { return n == 0 ? kNoMatch : n; };
  switch (step.hole) {
    case HoleType::None:
      return 0;
    case HoleType::Integer:
      return some(integer_length(text));
    case HoleType::Hex:
      return some(hex_length(text));
    case HoleType::Word:
      return some(word_length(text, next));
    case HoleType::Integers:
      return some(integers_length(text));
    case HoleType::Choice:
      return some(choice_length(text, step));
    case HoleType::Rest:
      return text.size();
    case HoleType::Text:
      if (step.before_last) return length_before_last(text, next);
      return next.empty() ? text.size() : text.find(next);
  }
  return kNoMatch;
}

}  // namespace

LeadingBytes leading_bytes(std::string_view text) {
  text = text.substr(0, sizeof(uint64_t));
  return {bytes_at(text, 0), bytes_at(std::string(text.size(), '\xFF'), 0)};
}

WordingPattern compile_wording(const Kind& kind, const Wording& wording) {
  WordingPattern pattern{&kind, &wording, {}};
  std::string_view rest = wording.text;
  while (!rest.empty()) {
    PatternStep step;
    const size_t open = rest.find('{');
    step.literal = rest.substr(0, open);
    step.leading = leading_bytes(step.literal);
    if (open == rest.npos) {
      rest = {};
    } else {
      if (open == 0 && !pattern.steps.empty()) malformed(wording, "two holes side by side");
      const size_t close = rest.find('}', open);
      if (close == rest.npos) malformed(wording, "unclosed hole");
      parse_hole(kind, wording, rest.substr(open + 1, close - open - 1), step);
      rest.remove_prefix(close + 1);
    }
    pattern.steps.push_back(std::move(step));
  }
  if (pattern.steps.empty()) malformed(wording, "nothing to match");
  for (size_t i = 0; i + 1 < pattern.steps.size(); ++i) {
    PatternStep& step = pattern.steps[i];
    const bool is_end =
        i + 2 == pattern.steps.size() && pattern.steps[i + 1].hole == HoleType::None;
    step.next = pattern.steps[i + 1].literal;
    step.before_last = step.hole == HoleType::Text && is_end;
  }
  return pattern;
}

bool match_wording(const WordingPattern& pattern, std::string_view text, Message& message) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  // Most candidates of a long list end here, before any field is touched.
  const PatternStep& first = pattern.steps.front();
  const bool by_holes = pattern.wording->recognise == nullptr && first.hole != HoleType::None;
  if (by_holes && !begins_with_literal(text, first)) return false;
  std::fill_n(message.fields.begin(), pattern.kind->fields.size(), std::string_view{});
  if (pattern.wording->recognise != nullptr) {
    message.kind = pattern.kind;
    message.wording = pattern.wording;
    return pattern.wording->recognise(text, message);
  }
  for (size_t i = 0; i < pattern.steps.size(); ++i) {
    const PatternStep& step = pattern.steps[i];
    if (!begins_with_literal(text, step)) {
      // The last literal may end in blanks that were taken off the text's end.
      const bool last = i + 1 == pattern.steps.size() && step.hole == HoleType::None;
      if (!last || text != trim(step.literal)) return false;
      text = {};
      break;
    }
    text.remove_prefix(step.literal.size());
    const size_t length = hole_length(step, text);
    if (length == kNoMatch) return false;
    if (step.field >= 0) {
      // Some formats have no blank before a text that brings its own: "Bootstrap : Using%s".
      const bool is_number = step.hole == HoleType::Integer || step.hole == HoleType::Hex;
      const std::string_view taken = text.substr(0, length);
      message.fields[static_cast<size_t>(step.field)] = is_number ? taken : trim(taken);
    }
    text.remove_prefix(length);
  }
  if (!text.empty()) return false;
  message.kind = pattern.kind;
  message.wording = pattern.wording;
  return true;
}

}  // namespace ncclog
