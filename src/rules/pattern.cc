#include "rules/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "log/needle_filter.h"
#include "model/records.h"
#include "rules/rule.h"

namespace ncclog {
struct Pattern::Lazy {
  std::string text;
  std::once_flag once;
  std::optional<re2::RE2> compiled;

  const re2::RE2& expression() {
    std::call_once(once, [this] {
      re2::RE2::Options options(re2::RE2::Latin1);
      options.set_log_errors(false);
      compiled.emplace(text, options);
    });
    return *compiled;
  }
};

Pattern::Pattern(std::string text) : lazy_(std::make_shared<Lazy>()) {
  lazy_->text = std::move(text);
}

const std::string& Pattern::text() const {
  static const std::string none;
  return lazy_ != nullptr ? lazy_->text : none;
}

bool Pattern::matches(std::string_view bytes) const {
  if (lazy_ == nullptr) return false;
  const re2::RE2& expression = lazy_->expression();
  return expression.ok() &&
         re2::RE2::PartialMatch(re2::StringPiece(bytes.data(), bytes.size()), expression);
}

std::optional<std::string> Pattern::capture(std::string_view bytes,
                                            const std::string& group) const {
  if (lazy_ == nullptr || !lazy_->expression().ok()) return std::nullopt;
  const re2::RE2& expression = lazy_->expression();
  const auto number = expression.NamedCapturingGroups().find(group);
  if (number == expression.NamedCapturingGroups().end()) return std::nullopt;
  std::vector<re2::StringPiece> groups(static_cast<size_t>(number->second) + 1);
  const re2::StringPiece text(bytes.data(), bytes.size());
  const bool found = expression.Match(text, 0, text.size(), re2::RE2::UNANCHORED, groups.data(),
                                      static_cast<int>(groups.size()));
  if (!found || groups.back().data() == nullptr) return std::nullopt;
  return std::string(groups.back().data(), groups.back().size());
}

std::vector<std::string> Pattern::group_names() const {
  constexpr std::string_view kBegin = "(?P<";
  const std::string_view all = text();
  std::vector<std::string> names;
  for (size_t at = 0; at < all.size(); ++at) {
    if (all[at] == '\\') {
      ++at;
    } else if (all.substr(at).starts_with(kBegin)) {
      const size_t begin = at + kBegin.size();
      const size_t end = all.find('>', begin);
      if (end == all.npos) break;
      names.emplace_back(all.substr(begin, end - begin));
    }
  }
  return names;
}

std::string Pattern::error() const {
  return lazy_ != nullptr ? lazy_->expression().error() : std::string();
}

// What every match contains.

namespace {

/// Skips a group or class that begins at `at`; returns the position behind it.
size_t skip_bracket(std::string_view pattern, size_t at) {
  int depth = 0;
  bool in_class = false;
  for (; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      ++at;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
      // A bracket that comes first in a class stands for itself.
      if (at + 1 < pattern.size() && pattern[at + 1] == '^') ++at;
      if (at + 1 < pattern.size() && pattern[at + 1] == ']') ++at;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    }
    if (depth == 0 && !in_class) return at + 1;
  }
  return pattern.size();
}

/// True if what stands before `at` may occur zero times.
bool is_optional(std::string_view pattern, size_t at) {
  return at < pattern.size() && (pattern[at] == '?' || pattern[at] == '*' || pattern[at] == '{');
}

bool stands_for_itself(char c) {
  return std::string_view(".^$|()[]{}*+?\\").find(c) == std::string_view::npos;
}

bool is_punctuation(char c) {
  return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') &&
         !(c >= 'a' && c <= 'z');
}

/// The position behind an operator, a group, a class or an escape that begins at `at`.
size_t skip_special(std::string_view pattern, size_t at) {
  switch (pattern[at]) {
    case '(':
    case '[':
      return skip_bracket(pattern, at);
    case '{':
      return std::min(pattern.find('}', at), pattern.size() - 1) + 1;
    case '\\':
      return at + 2;
    default:
      return at + 1;
  }
}

/// Escapes of more than two characters (\x41, \pN, \101, \Q) are not worth understanding.
bool has_long_escape(std::string_view pattern) {
  for (size_t at = pattern.find('\\'); at < pattern.size(); at = pattern.find('\\', at + 2)) {
    const char c = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (c == 'x' || c == 'p' || c == 'P' || c == 'Q' || (c >= '0' && c <= '9')) return true;
  }
  return false;
}

/// Groups with a question mark, but for those that only name or join: (?i) changes what letters
/// stand for.
bool has_flags(std::string_view pattern) {
  for (size_t at = pattern.find("(?"); at != pattern.npos; at = pattern.find("(?", at + 1)) {
    const std::string_view group = pattern.substr(at);
    if (!group.starts_with("(?P<") && !group.starts_with("(?:")) return true;
  }
  return false;
}

bool has_alternatives(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '|') return true;
    if (pattern[at] == '\\') {
      at += 2;
    } else if (pattern[at] == '(' || pattern[at] == '[') {
      at = skip_bracket(pattern, at);
    } else {
      ++at;
    }
  }
  return false;
}

}  // namespace

std::string required_literal(std::string_view pattern) {
  if (has_flags(pattern) || has_long_escape(pattern)) return {};
  if (has_alternatives(pattern)) return {};
  std::string longest;
  std::string run;
  const auto end_run = [&] {
    if (run.size() > longest.size()) longest = run;
    run.clear();
  };
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    const bool escaped = c == '\\' && at + 1 < pattern.size() && is_punctuation(pattern[at + 1]);
    const size_t next = at + (escaped ? 2 : 1);
    if (!escaped && !stands_for_itself(c)) {
      end_run();
      at = skip_special(pattern, at);
    } else if (is_optional(pattern, next)) {
      end_run();
      at = next;
    } else {
      run += pattern[next - 1];
      at = next;
    }
  }
  end_run();
  return longest;
}

// Comparisons of values.

namespace {

struct NamedField {
  std::string_view name;
  HeaderField field;
};

constexpr NamedField kHeaderFields[] = {
    {"level", HeaderField::Level}, {"file", HeaderField::File}, {"host", HeaderField::Host},
    {"rank", HeaderField::Rank},   {"pid", HeaderField::Pid},
};

std::string number_text(int64_t number) { return number < 0 ? "" : std::to_string(number); }

std::string header_text(const Job& job, const ReadRecord& read, HeaderField field) {
  const Header header = read.header();
  const Process& process = job.processes[static_cast<size_t>(read.process)];
  switch (field) {
    case HeaderField::Level:
      return std::string(to_string(header.level));
    case HeaderField::File:
      return std::string(header.file);
    case HeaderField::Host:
      return header.host.empty() ? process.host : std::string(header.host);
    case HeaderField::Rank:
      return number_text(process.rank);
    case HeaderField::Pid:
      return number_text(header.pid >= 0 ? header.pid : process.pid);
    case HeaderField::None:
      break;
  }
  return {};
}

std::string captured_text(const ReadRecord& read, const FieldRef& field) {
  for (const Pattern& pattern : field.patterns) {
    if (const auto text = pattern.capture(read.record->text, field.group)) return *text;
  }
  return {};
}

bool equal(FieldType type, std::string_view have, std::string_view want) {
  if (type == FieldType::Integer) {
    const auto number = parse_int(have);
    return number && number == parse_int(want);
  }
  if (type == FieldType::Hex) {
    const auto number = parse_hex(have);
    return number && number == parse_hex(want);
  }
  return have == want;
}

std::optional<int64_t> number_of(FieldType type, std::string_view text) {
  if (type != FieldType::Hex) return parse_int(text);
  const auto value = parse_hex(text);
  return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

/// The number that `text` begins with, whatever follows: 48.0 of "48.0 GB/s (8 links)".
std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  size_t end = text.starts_with('-') ? 1 : 0;
  const size_t digits = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits) return std::nullopt;
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
    ++end;
    while (end < text.size() && is_digit(text[end])) ++end;
  }
  return parse_decimal(text.substr(0, end));
}

/// -1, 0, 1 for a value below, equal to or above the bound; nullopt: it is no number.
std::optional<int> compared(FieldType type, std::string_view have, int64_t bound) {
  const auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  if (const auto whole = number_of(type, have)) return sign(*whole, bound);
  const auto number = leading_number(have);
  return number ? std::optional(sign(*number, static_cast<double>(bound))) : std::nullopt;
}

bool passes(FieldType type, std::string_view have, const ValueTest& test) {
  const auto any = [&](auto holds) {
    return std::any_of(test.values.begin(), test.values.end(), holds);
  };
  switch (test.op) {
    case Operator::Equals:
      return any([&](const std::string& want) { return equal(type, have, want); });
    case Operator::Not:
      return !any([&](const std::string& want) { return equal(type, have, want); });
    case Operator::Contains:
      return any([&](const std::string& want) { return have.find(want) != have.npos; });
    case Operator::StartsWith:
      return any([&](const std::string& want) { return have.starts_with(want); });
    case Operator::EndsWith:
      return any([&](const std::string& want) { return have.ends_with(want); });
    case Operator::Matches:
      return test.pattern.matches(have);
    case Operator::AtLeast:
      return compared(type, have, test.number).value_or(-1) >= 0;
    case Operator::AtMost:
      return compared(type, have, test.number).value_or(1) <= 0;
    case Operator::Above:
      return compared(type, have, test.number).value_or(-1) > 0;
    case Operator::Below:
      return compared(type, have, test.number).value_or(1) < 0;
    case Operator::Empty:
      return have.empty();
    case Operator::NotEmpty:
      return !have.empty();
    case Operator::SameAs:
      break;
  }
  return false;
}

bool passes(const Job& job, const ReadRecord& read, const FieldTest& test) {
  const std::string have = field_text(job, read, test.field);
  return std::all_of(test.tests.begin(), test.tests.end(), [&](const ValueTest& demand) {
    if (demand.op != Operator::SameAs) return passes(test.field.type, have, demand);
    return equal(test.field.type, have, field_text(job, read, demand.other));
  });
}

}  // namespace

HeaderField parse_header_field(std::string_view name) {
  for (const NamedField& field : kHeaderFields) {
    if (field.name == name) return field.field;
  }
  return HeaderField::None;
}

std::vector<std::string_view> header_field_names() {
  std::vector<std::string_view> names;
  for (const NamedField& field : kHeaderFields) names.push_back(field.name);
  return names;
}

std::string field_text(const Job& job, const ReadRecord& read, const FieldRef& field) {
  if (!field.group.empty()) return captured_text(read, field);
  if (field.header != HeaderField::None) return header_text(job, read, field.header);
  return std::string(read.message.fields[field.index]);
}

bool passes(const Job& job, const ReadRecord& read, const std::vector<FieldTest>& tests) {
  return std::all_of(tests.begin(), tests.end(),
                     [&](const FieldTest& test) { return passes(job, read, test); });
}

bool passes(const FactValue& value, const std::vector<ValueTest>& tests) {
  const bool is_number = std::holds_alternative<int64_t>(value.value);
  std::string have = fact_text(value);
  if (const bool* yes = std::get_if<bool>(&value.value)) have = *yes ? "true" : "false";
  return std::all_of(tests.begin(), tests.end(), [&](const ValueTest& test) {
    return passes(is_number ? FieldType::Integer : FieldType::Text, have, test);
  });
}

// Line patterns, matched while a log is read. Most lines hold none of the words that the patterns
// need, and are let go by one search for all these words, before any expression sees them. An
// expression is compiled when a line first holds its word: that keeps the start quick.

namespace {

/// Built once, then only read.
class LinePatterns {
 public:
  explicit LinePatterns(const std::vector<std::string>& patterns) : words_(words_of(patterns)) {
    for (const std::string& text : patterns) {
      filtered_.push_back({required_literal(text), Pattern(text)});
      any_line_ |= filtered_.back().literal.empty();
    }
  }

  void match(std::string_view line, std::vector<int>& matched) const {
    if (!any_line_ && words_.next(line, 0) == line.size()) return;
    for (size_t i = 0; i < filtered_.size(); ++i) {
      const auto& [literal, pattern] = filtered_[i];
      if (!literal.empty() && line.find(literal) == line.npos) continue;
      if (pattern.matches(line)) matched.push_back(static_cast<int>(i));
    }
  }

 private:
  struct Filtered {
    std::string literal;  ///< Empty: none is known.
    Pattern pattern;
  };

  static std::vector<std::string> words_of(const std::vector<std::string>& patterns) {
    std::vector<std::string> words;
    for (const std::string& text : patterns) {
      if (std::string word = required_literal(text); !word.empty()) words.push_back(word);
    }
    return words;
  }

  NeedleFilter words_;
  bool any_line_ = false;  ///< Some pattern has no literal.
  std::vector<Filtered> filtered_;
};

}  // namespace

LineMatcher make_line_matcher(const Rulebook& rulebook) {
  const std::vector<std::string>& patterns = rulebook.line_patterns;
  if (patterns.empty()) return {};
  LineMatcher matcher;
  const auto shared = std::make_shared<const LinePatterns>(patterns);
  matcher.match = [shared](std::string_view line, std::vector<int>& matched) {
    shared->match(line, matched);
  };
  matcher.literals.emplace();
  for (const std::string& text : patterns) matcher.literals->push_back(required_literal(text));
  return matcher;
}

}  // namespace ncclog
