// What a rule demands of a line and of single values.
//
//   {line: 'NCCL WARN .*Cannot get incoming CPU'}
//     a pattern, searched for in every line while the log is read
//   where: {size: 0, error: {contains: No such file}, level: [WARN, ABORT]}
//     comparisons: of a number, of a text, of a field of the header

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"

namespace ncclog {

struct LineMatcher;
struct Rulebook;

/// A regular expression of a rule (RE2 syntax), compiled when it is first used: most are never
/// needed, and compiling them all would take longer than reading the rules.
/// Invariant: the expression is compiled at most once, by whichever thread needs it first. Copies
/// share it.
class Pattern {
 public:
  Pattern() = default;
  explicit Pattern(std::string text);

  const std::string& text() const;

  /// True if some part of `bytes` matches; false for an invalid expression. Bytes need not be
  /// UTF-8.
  bool matches(std::string_view bytes) const;

  /// What the named group captures where the expression first matches; nullopt: it does not match,
  /// or the group takes no part in the match.
  std::optional<std::string> capture(std::string_view bytes, const std::string& group) const;

  /// Names of its capturing groups, (?P<name>…),.
  std::vector<std::string> group_names() const;

  /// What RE2 objects to; empty for a valid expression.
  std::string error() const;

  bool operator==(const Pattern& other) const { return text() == other.text(); }

 private:
  struct Lazy;
  std::shared_ptr<Lazy> lazy_;
};

/// Texts one of which stands in every match of a regular expression, found without compiling it:
/// {"Cannot get incoming CPU"} for "NCCL WARN .*Cannot get incoming CPU", {"NCCL_TIMEOUT",
/// "NCCL_IFNAME"} for "\bNCCL_(TIMEOUT|IFNAME)=". Of several such lists it is the one whose texts
/// are long; empty where the form of the expression shows none, or has flags.
std::vector<std::string> required_texts(std::string_view pattern);

/// A field that every line has, whatever its kind.
struct HeaderField {
  std::string_view name;  ///< "level"
  FieldType type = FieldType::Text;
  /// As the process is known where the line itself does not name it. Empty: unknown.
  std::string (*text)(const Job& job, const ReadRecord& read) = nullptr;
};

std::span<const HeaderField> header_fields();

/// A field of a kind, of the header where `header` is set, or what a line pattern captures.
struct FieldRef {
  size_t index = 0;  ///< Into Kind::fields.
  const HeaderField* header = nullptr;
  FieldType type = FieldType::Text;
  std::string group = {};              ///< Name of a capturing group; empty: it is a field.
  std::vector<Pattern> patterns = {};  ///< That have this group; the first that matches counts.

  bool operator==(const FieldRef&) const = default;
};

/// True if the field's text follows from the message alone, whoever printed it.
inline bool is_of_message(const FieldRef& field) {
  return field.header == nullptr && field.patterns.empty() && field.group.empty();
}

/// Bytes of "64M", "1.5G", or of 1024-byte blocks without a unit, as df prints sizes; nullopt: it is
/// none.
std::optional<double> parse_size(std::string_view text);

/// What to do with a value.
enum class Operator {
  Equals,    ///< Equals one of the values.
  Not,       ///< Equals none of them.
  Contains,  ///< Contains one of them; the same for StartsWith and EndsWith.
  StartsWith,
  EndsWith,
  Matches,  ///< A part of it matches the pattern.
  AtLeast,  ///< Is a number and at least `number`.
  AtMost,
  Above,
  Below,
  Empty,  ///< Is empty or not printed.
  NotEmpty,
  SameAs,  ///< Equals another field of the same event.
};

/// One demand.
struct ValueTest {
  Operator op = Operator::Equals;
  std::vector<std::string> values;
  int64_t number = 0;    ///< Of a comparison with a bound.
  bool is_size = false;  ///< The bound is of bytes, "1G", and so is the value, as df prints it.
  Pattern pattern;
  FieldRef other;

  bool operator==(const ValueTest&) const = default;
};

/// All demands on one field.
struct FieldTest {
  FieldRef field;
  std::vector<ValueTest> tests;

  bool operator==(const FieldTest&) const = default;
};

/// The field's text: as printed, or for header fields as the process is known where the line itself
/// does not name it. Empty: not printed, unknown.
std::string field_text(const Job& job, const ReadRecord& read, const FieldRef& field);

/// True if the event meets every demand.
bool passes(const Job& job, const ReadRecord& read, const std::vector<FieldTest>& tests);

/// True if the row of a table does.
bool passes(const TableRow& row, const std::vector<FieldTest>& tests);

/// True if a known value meets every demand; "true" and "false" stand for a Bool's values.
bool passes(const FactValue& value, const std::vector<ValueTest>& tests);

/// Says which line patterns of the rulebook match a line; empty if it has none. May be called from
/// any thread and outlives the rulebook.
LineMatcher make_line_matcher(const Rulebook& rulebook);

}  // namespace ncclog
