#include "rules/load_tests.h"

#include "base/text.h"
#include "rules/condition_keys.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {
namespace {

const Names kOperators(comparison_names().begin(), comparison_names().end());

bool is_value(FieldType type, std::string_view text) {
  if (type == FieldType::Integer) return parse_int(text).has_value();
  if (type == FieldType::Hex) return parse_hex(text).has_value();
  return true;
}

/// The values that a field is compared with; numbers where the field is one.
std::vector<std::string> values_of(const RuleFile& file, const RuleNode& node, FieldType type) {
  std::vector<std::string> values = scalars_of(file, node, "a value or a list of values");
  for (const std::string& value : values) {
    if (is_value(type, value)) continue;
    fail_at(file, node.place, fmt::format("expected a number, found '{}'", value));
  }
  return values;
}

ValueTest with_values(Operator op, std::vector<std::string> values) {
  ValueTest test;
  test.op = op;
  test.values = std::move(values);
  return test;
}

/// at_least: 4
ValueTest with_bound(const RuleFile& file, const RuleNode& node, Operator op) {
  ValueTest test;
  test.op = op;
  test.number = number_of(file, node);
  return test;
}

ValueTest load_operator(const RuleFile& file, const RuleNode::Entry& entry, FieldType type) {
  const std::string& name = entry.key;
  const RuleNode& value = entry.value;
  if (name == "equals") return with_values(Operator::Equals, values_of(file, value, type));
  if (name == "not") return with_values(Operator::Not, values_of(file, value, type));
  if (name == "at_least") return with_bound(file, value, Operator::AtLeast);
  if (name == "at_most") return with_bound(file, value, Operator::AtMost);
  if (name == "above") return with_bound(file, value, Operator::Above);
  if (name == "below") return with_bound(file, value, Operator::Below);
  if (name == "contains" || name == "starts_with" || name == "ends_with") {
    const Operator op = name == "contains"      ? Operator::Contains
                        : name == "starts_with" ? Operator::StartsWith
                                                : Operator::EndsWith;
    return with_values(op, scalars_of(file, value, "a text or a list of texts"));
  }
  ValueTest test;
  if (name == "matches") {
    test.op = Operator::Matches;
    test.pattern = load_pattern(file, value);
  } else {
    test.op = bool_of(file, value) ? Operator::Empty : Operator::NotEmpty;
  }
  return test;
}

FieldTest load_field_test(const RuleFile& file, const RuleNode::Entry& entry, const Kind& kind) {
  FieldTest test;
  test.field = load_field(file, entry.place, kind, entry.key);
  if (entry.value.type != RuleNode::Type::Map) {
    test.tests.push_back(
        with_values(Operator::Equals, values_of(file, entry.value, test.field.type)));
    return test;
  }
  only_keys(file, entry.value, kOperators);
  for (const RuleNode::Entry& demand : entries_of(file, entry.value, "a comparison")) {
    if (demand.key == "field") {
      ValueTest same;
      same.op = Operator::SameAs;
      same.other = load_field(file, demand.value.place, kind,
                              scalar_of(file, demand.value, "the name of a field"));
      test.tests.push_back(std::move(same));
    } else {
      test.tests.push_back(load_operator(file, demand, test.field.type));
    }
  }
  return test;
}

/// Comparisons that make sense for a fact's type, besides `fact` itself.
Names comparisons_of(FactType type) {
  switch (type) {
    case FactType::Bool:
      return {"is"};
    case FactType::Integer:
      return {"equals", "at_least", "at_most"};
    case FactType::Text:
      return {"equals", "contains"};
  }
  return {};
}

}  // namespace

std::vector<FieldTest> load_where(const RuleFile& file, const RuleNode& node, const Kind& kind) {
  std::vector<FieldTest> tests;
  for (const RuleNode::Entry& entry : entries_of(file, node, "a map of fields")) {
    tests.push_back(load_field_test(file, entry, kind));
  }
  return tests;
}

std::vector<ValueTest> load_value_tests(const RuleFile& file, const RuleNode& node,
                                        FieldType type) {
  std::vector<ValueTest> tests;
  if (node.type != RuleNode::Type::Map) {
    tests.push_back(with_values(Operator::Equals, values_of(file, node, type)));
    return tests;
  }
  Names known = kOperators;
  std::erase(known, "field");
  only_keys(file, node, known);
  for (const RuleNode::Entry& demand : entries_of(file, node, "a comparison")) {
    tests.push_back(load_operator(file, demand, type));
  }
  return tests;
}

std::vector<ValueTest> load_fact_tests(const RuleFile& file, const RuleNode& condition,
                                       const Fact& fact) {
  only_keys(file, condition, keys_of_condition("fact"));
  const Names known = comparisons_of(fact.type);
  const FieldType type = fact.type == FactType::Integer ? FieldType::Integer : FieldType::Text;
  std::vector<ValueTest> tests;
  for (const RuleNode::Entry& entry : condition.entries) {
    if (entry.key == "fact") continue;
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      fail_at(file, entry.place,
              fmt::format("'{}' does not apply to the fact {}", entry.key, fact.name),
              fmt::format("use {}", fmt::join(known, ", ")));
    }
    tests.push_back(entry.key == "is" ? with_values(Operator::Equals,
                                                    {bool_of(file, entry.value) ? "true" : "false"})
                                      : load_operator(file, entry, type));
  }
  if (tests.empty()) {
    fail_at(file, condition.place, fmt::format("what must the fact {} be?", fact.name),
            fmt::format("use {}", fmt::join(known, ", ")));
  }
  return tests;
}

CountTest load_count(const RuleFile& file, const RuleNode& node) {
  CountTest count;
  entries_of(file, node, "a count: {at_least: 2}");
  only_keys(file, node, {"at_least", "at_most", "equals"});
  if (const RuleNode* n = node.find("at_least")) count.at_least = number_of(file, *n);
  if (const RuleNode* n = node.find("at_most")) count.at_most = number_of(file, *n);
  if (const RuleNode* n = node.find("equals")) count.equals = number_of(file, *n);
  return count;
}

Pattern load_pattern(const RuleFile& file, const RuleNode& node) {
  Pattern pattern(scalar_of(file, node, "a regular expression"));
  if (file.builtin) return pattern;
  if (const std::string error = pattern.error(); !error.empty()) {
    fail_at(file, node.place, fmt::format("not a regular expression of RE2: {}", error));
  }
  return pattern;
}

}  // namespace ncclog
