#include "rules/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "diagnose/outcome/outcome.h"
#include "diagnose/outcome/own_proxy.h"
#include "log/literal_set.h"
#include "model/process_log.h"
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
  std::vector<std::string> names;
  // Most have none, and an expression is compiled only when it is asked for.
  if (lazy_ == nullptr || text().find("(?P<") == std::string::npos) return names;
  for (const auto& [name, number] : lazy_->expression().NamedCapturingGroups()) {
    names.push_back(name);
  }
  return names;
}

std::string Pattern::error() const {
  return lazy_ != nullptr ? lazy_->expression().error() : std::string();
}

// What every match contains.

namespace {

bool is_punctuation(char c) { return c > ' ' && c < 0x7F && !is_alnum(c); }

/// How long the class is with which `rest` begins; a bracket that comes first in it stands for
/// itself.
size_t class_length(std::string_view rest) {
  size_t at = 1;
  if (rest.substr(at).starts_with('^')) ++at;
  if (rest.substr(at).starts_with(']')) ++at;
  while (at < rest.size() && rest[at] != ']') {
    // "[[:digit:]a]" ends behind the a.
    const bool is_name = rest.substr(at).starts_with("[:");
    const size_t end = is_name ? rest.find(":]", at + 2) : rest.npos;
    at = end != rest.npos ? end + 2 : at + (rest[at] == '\\' ? 2 : 1);
  }
  return std::min(at + 1, rest.size());
}

/// Flags change what letters stand for, (?i), and escapes of more than two characters (\x41, \pN,
/// \101, \Q) are not worth understanding.
bool has_flags_or_long_escapes(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("(?") && !rest.starts_with("(?P<") && !rest.starts_with("(?:"))
      return true;
    if (pattern[at] != '\\' || ++at == pattern.size()) continue;
    if (is_digit(pattern[at]) || std::string_view("xpPQ").find(pattern[at]) != rest.npos)
      return true;
  }
  return false;
}

using Texts = std::vector<std::string>;

/// What a part of an expression asks of what matches it.
struct Required {
  Texts somewhere;  ///< One of these stands in it; empty: that is not known.
  Texts at_begin;   ///< Likewise, and it begins with it.
};

size_t shortest(const Texts& texts) {
  return texts.empty() ? 0 : std::ranges::min(texts, {}, &std::string::size).size();
}

// An expression is taken apart as far as it must be for that: whatever is not understood matches
// anything. `rest` is what of it is not read yet.

/// What one alternative is not known to need, all together are not.
void join_choice(Texts& texts, Texts&& others) {
  constexpr size_t kMost = 64;
  if (texts.empty() || others.empty() || texts.size() + others.size() > kMost) return texts.clear();
  std::ranges::move(others, std::back_inserter(texts));
}

/// The less a text says, the more lines hold it.
void keep_better(Texts& best, Texts&& texts) {
  if (shortest(texts) > shortest(best)) best = std::move(texts);
}

bool take(std::string_view& rest, char wanted) {
  const bool is_there = rest.starts_with(wanted);
  if (is_there) rest.remove_prefix(1);
  return is_there;
}

/// What stands before one of these may occur zero times.
bool makes_optional(std::string_view rest) {
  return rest.starts_with('?') || rest.starts_with('*') || rest.starts_with('{');
}

/// Of "{2,3}"; a brace that begins no repetition stands for itself, and is as good as nothing.
size_t repetition_length(std::string_view rest) {
  const size_t end = rest.find_first_not_of("0123456789,", 1);
  return end != rest.npos && rest[end] == '}' ? end + 1 : 1;
}

/// An ordinary character that no match can be without; NUL for all else.
char read_literal(std::string_view& rest) {
  char c = rest.front();
  bool is_literal = std::string_view(".^$[]{}*+?\\").find(c) == std::string_view::npos;
  size_t length = 1;
  if (c == '[') length = class_length(rest);
  if (c == '{') length = repetition_length(rest);
  if (c == '\\' && rest.size() > 1) {
    c = rest[1];
    is_literal = is_punctuation(c);
    length = 2;
  }
  rest.remove_prefix(length);
  return is_literal && !makes_optional(rest) ? c : '\0';
}

Required read_choice(std::string_view& rest);

/// Behind its bracket; nothing is required where it may be left out.
Required read_group(std::string_view& rest) {
  // Its name, (?P<name>…), asks nothing.
  if (take(rest, '?') && !take(rest, ':'))
    rest.remove_prefix(std::min(rest.find('>'), rest.size() - 1) + 1);
  Required inner = read_choice(rest);
  take(rest, ')');
  return makes_optional(rest) ? Required() : inner;
}

/// Up to a '|' or the end of the group.
Required read_sequence(std::string_view& rest) {
  Required all;
  std::string run;
  bool is_at_begin = true;
  const auto end_run = [&] {
    if (!run.empty() && is_at_begin) all.at_begin = {run};
    if (!run.empty()) keep_better(all.somewhere, {run});
    run.clear();
    is_at_begin = false;
  };
  while (!rest.empty() && rest.front() != '|' && rest.front() != ')') {
    if (take(rest, '(')) {
      Required inner = read_group(rest);
      // With what stands before them the alternatives are told better.
      for (std::string& text : inner.at_begin) text.insert(0, run);
      const Texts begun = inner.at_begin;
      keep_better(all.somewhere, std::move(inner.somewhere));
      keep_better(all.somewhere, std::move(inner.at_begin));
      // Where the beginnings of the group are known, with the run before them, the sequence begins
      // with one of them.
      const bool begins = std::exchange(is_at_begin, is_at_begin && begun.empty());
      end_run();
      if (begins && !begun.empty()) all.at_begin = begun;
      continue;
    }
    const char literal = read_literal(rest);
    if (literal == '\0') {
      end_run();
    } else {
      run += literal;
    }
  }
  end_run();
  return all;
}

/// Alternatives, up to the end of the group.
Required read_choice(std::string_view& rest) {
  Required all = read_sequence(rest);
  while (take(rest, '|')) {
    Required other = read_sequence(rest);
    join_choice(all.somewhere, std::move(other.somewhere));
    join_choice(all.at_begin, std::move(other.at_begin));
  }
  return all;
}

}  // namespace

std::vector<std::string> required_texts(std::string_view pattern) {
  if (has_flags_or_long_escapes(pattern)) return {};
  Texts texts = read_choice(pattern).somewhere;
  // Many texts of a byte or two stand in most lines.
  constexpr size_t kTelling = 3;
  if (texts.size() > 1 && shortest(texts) < kTelling) texts.clear();
  return texts;
}

// Comparisons of values.

namespace {

std::string number_text(int64_t number) { return number < 0 ? "" : std::to_string(number); }

constexpr HeaderField kHeaderFields[] = {
    {"level", FieldType::Text,
     [](const Job&, const ReadRecord& read) { return std::string(to_string(read.level())); }},
    {"file", FieldType::Text,
     [](const Job&, const ReadRecord& read) { return std::string(read.header().file); }},
    {"host", FieldType::Text,
     [](const Job& job, const ReadRecord& read) {
       const std::string_view host = read.header().host;
       return host.empty() ? nth_process(job, read.process()).host : std::string(host);
     }},
    {"rank", FieldType::Integer,
     [](const Job& job, const ReadRecord& read) {
       return number_text(nth_process(job, read.process()).rank);
     }},
    {"pid", FieldType::Integer,
     [](const Job& job, const ReadRecord& read) {
       const int64_t pid = read.header().pid;
       return number_text(pid >= 0 ? pid : nth_process(job, read.process()).pid);
     }},
    {"outlived", FieldType::Text,
     [](const Job& job, const ReadRecord& read) {
       return std::string(is_outlived(job, read.where()) ? "yes" : "no");
     }},
    {"own_proxy", FieldType::Text,
     [](const Job& job, const ReadRecord& read) {
       return std::string(is_of_own_proxy(job, read.process(), read.record()) ? "yes" : "no");
     }},
};

std::optional<int64_t> integer_of(FieldType type, std::string_view text) {
  if (type != FieldType::Hex) return parse_int(text);
  const auto value = parse_hex(text);
  return value ? std::optional(static_cast<int64_t>(*value)) : std::nullopt;
}

bool equal(FieldType type, std::string_view have, std::string_view want) {
  if (type == FieldType::Text) return have == want;
  const auto number = integer_of(type, have);
  return number && number == integer_of(type, want);
}

/// The number that `text` begins with, whatever follows: 48.0 of "48.0 GB/s (8 links)".
std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  const size_t digits = text.starts_with('-') ? 1 : 0;
  // Else "inf" and "nan" would be numbers, too.
  if (text.size() == digits || !is_digit(text[digits])) return std::nullopt;
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  return number;
}

/// -1, 0, 1 for a value below, equal to or above the bound; nullopt: it is no number.
std::optional<int> compared(FieldType type, std::string_view have, const ValueTest& test) {
  const auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
  const int64_t bound = test.number;
  if (test.is_size) {
    const auto size = parse_size(have);
    return size ? std::optional(sign(*size, static_cast<double>(bound))) : std::nullopt;
  }
  if (const auto whole = integer_of(type, have)) return sign(*whole, bound);
  const auto number = leading_number(have);
  return number ? std::optional(sign(*number, static_cast<double>(bound))) : std::nullopt;
}

bool passes(FieldType type, std::string_view have, const ValueTest& test) {
  const auto any = [&](auto holds) { return std::ranges::any_of(test.values, holds); };
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
      return compared(type, have, test).value_or(-1) >= 0;
    case Operator::AtMost:
      return compared(type, have, test).value_or(1) <= 0;
    case Operator::Above:
      return compared(type, have, test).value_or(-1) > 0;
    case Operator::Below:
      return compared(type, have, test).value_or(1) < 0;
    case Operator::Empty:
      return have.empty();
    case Operator::NotEmpty:
      return !have.empty();
    case Operator::SameAs:
      break;
  }
  return false;
}

/// False if a value that the field has to hold stands nowhere in the message: a glance, before that
/// is taken apart.
bool may_pass(const RecordText& text, const FieldTest& test) {
  const FieldRef& field = test.field;
  const Wording* const wording = text.wording;
  const bool is_part = is_of_message(field) && wording != nullptr && wording->recogniser == nullptr;
  return !is_part || std::ranges::all_of(test.tests, [&](const ValueTest& demand) {
    const bool is_text = demand.op == Operator::Contains || demand.op == Operator::StartsWith ||
                         demand.op == Operator::EndsWith ||
                         (demand.op == Operator::Equals && field.type == FieldType::Text);
    return !is_text || std::ranges::any_of(demand.values, [&](const std::string& want) {
      return text.text().find(want) != std::string_view::npos;
    });
  });
}

bool passes(const Job& job, const ReadRecord& read, const FieldTest& test) {
  if (!may_pass(*read.log->text(read.place), test)) return false;
  const std::string have = field_text(job, read, test.field);
  return std::ranges::all_of(test.tests, [&](const ValueTest& demand) {
    if (demand.op != Operator::SameAs) return passes(test.field.type, have, demand);
    return equal(test.field.type, have, field_text(job, read, demand.other));
  });
}

}  // namespace

std::optional<double> parse_size(std::string_view text) {
  static constexpr std::string_view kUnits = "KMGTP";
  auto number = leading_number(text);
  if (!number) return std::nullopt;
  const size_t end = text.find_first_not_of("0123456789.");
  const size_t unit = end == text.npos ? 0 : kUnits.find(text[end]);
  if (unit == kUnits.npos) return std::nullopt;
  for (size_t i = 0; i <= unit; ++i) *number *= 1024;
  return number;
}

std::span<const HeaderField> header_fields() { return kHeaderFields; }

std::string field_text(const Job& job, const ReadRecord& read, const FieldRef& field) {
  for (const Pattern& pattern : field.patterns) {
    if (const auto text = pattern.capture(read.record().text(), field.group)) return *text;
  }
  if (!field.group.empty()) return {};
  if (field.header != nullptr) return field.header->text(job, read);
  return std::string(read.message().fields[field.index]);
}

bool passes(const Job& job, const ReadRecord& read, const std::vector<FieldTest>& tests) {
  return std::ranges::all_of(tests, [&](const FieldTest& test) { return passes(job, read, test); });
}

bool passes(const TableRow& row, const std::vector<FieldTest>& tests) {
  return std::ranges::all_of(tests, [&](const FieldTest& test) {
    const FieldType type = test.field.type;
    const std::string& have = row.fields[test.field.index];
    return std::ranges::all_of(test.tests, [&](const ValueTest& demand) {
      if (demand.op == Operator::SameAs) return equal(type, have, row.fields[demand.other.index]);
      return passes(type, have, demand);
    });
  });
}

bool passes(const FactValue& value, const std::vector<ValueTest>& tests) {
  const bool is_number = std::holds_alternative<int64_t>(value.value);
  std::string have = fact_text(value);
  if (const bool* yes = std::get_if<bool>(&value.value)) have = *yes ? "true" : "false";
  return std::ranges::all_of(tests, [&](const ValueTest& test) {
    return passes(is_number ? FieldType::Integer : FieldType::Text, have, test);
  });
}

// Line patterns, matched while a log is read. Most lines hold none of the words that the patterns
// need, and are let go by one search for all these words, before any expression sees them. An
// expression is compiled when a line first holds its word: that keeps the start quick.

LineMatcher make_line_matcher(const Rulebook& rulebook) {
  if (rulebook.line_patterns.empty()) return {};
  std::vector<Pattern> patterns;
  std::vector<int> of_any_line;  // Those that need no word.
  std::vector<std::string> words;
  std::vector<int> of_word;  // For each of `words`, the pattern that it lets through.
  LineMatcher matcher;
  matcher.literals.emplace();
  for (const std::string& text : rulebook.line_patterns) {
    const int number = static_cast<int>(patterns.size());
    std::vector<std::string> texts = required_texts(text);
    if (texts.empty()) {
      of_any_line.push_back(number);
      matcher.literals->emplace_back();
    }
    for (std::string& word : texts) {
      of_word.push_back(number);
      matcher.literals->push_back(word);
      words.push_back(std::move(word));
    }
    patterns.emplace_back(text);
  }
  matcher.patterns = patterns.size();
  matcher.patterns_hash = kFnvBasis;
  for (const std::string& text : rulebook.line_patterns) {
    matcher.patterns_hash = fnv_text(matcher.patterns_hash, text);
  }
  const auto filter = std::make_shared<const LiteralSet>(words);
  matcher.match = [filter, patterns = std::move(patterns), of_any_line = std::move(of_any_line),
                   of_word = std::move(of_word)](std::string_view line, std::vector<int>& matched) {
    std::vector<int> likely = of_any_line;
    filter->any_of(line, [&](size_t word, size_t) {
      likely.push_back(of_word[word]);
      return false;
    });
    std::ranges::sort(likely);
    const auto repeated = std::ranges::unique(likely);
    likely.erase(repeated.begin(), repeated.end());
    std::ranges::copy_if(likely, std::back_inserter(matched),
                         [&](int i) { return patterns[i].matches(line); });
  };
  return matcher;
}

}  // namespace ncclog
