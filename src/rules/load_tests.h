// From `where` values, fact comparisons and counts in a rule file to what they demand.

#pragma once

#include <string_view>
#include <vector>

#include "rules/load_rules.h"
#include "rules/rule.h"

namespace ncclog {

/// where: {size: 0, error: {contains: No such file}}
std::vector<FieldTest> load_where(const RuleFile& file, const RuleNode& node, const Kind& kind);

/// What a value must be that no event has: v, [v, w], or a map of comparisons.
std::vector<ValueTest> load_value_tests(const RuleFile& file, const RuleNode& node, FieldType type);

/// The comparisons that stand beside `fact` in a condition: is, equals, at_least, …
std::vector<ValueTest> load_fact_tests(const RuleFile& file, const RuleNode& condition,
                                       const Fact& fact);

/// count: {at_least: 2}
CountTest load_count(const RuleFile& file, const RuleNode& node);

/// A regular expression; checked unless the file was checked before.
Pattern load_pattern(const RuleFile& file, const RuleNode& node);

}  // namespace ncclog
