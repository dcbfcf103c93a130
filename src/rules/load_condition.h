// The conditions of a rule file: which keys they have, and what their words stand for.

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/load_rules.h"
#include "rules/rule.h"

namespace ncclog {

// Which keys may a condition have? One table for the loader, which refuses others, and for the JSON
// Schema, by which editors complete them.

/// A condition is named by one key, and may have others beside it.
struct ConditionKeys {
  std::string_view name;                 ///< "event"
  std::vector<std::string_view> beside;  ///< "where", "in", …
};

/// All conditions; valid for the whole program.
std::span<const ConditionKeys> condition_keys();

/// The keys of a condition, its own name first. `name` must be one of the table.
std::vector<std::string_view> keys_of_condition(std::string_view name);

/// A message kind and its fields, header fields among them: what an event condition may name.
struct KindNames {
  std::string_view kind;
  std::vector<std::string_view> fields;
};
std::vector<KindNames> kind_names();

/// What may stand in a map of comparisons: "not", "contains", …
std::span<const std::string_view> comparison_names();

/// Values of `per`, in the order of Scope.
std::span<const std::string_view> per_names();

/// Values of `in`, in the order of Reach.
std::span<const std::string_view> reach_names();

// From the `when` of a rule file to conditions, and from names in a rule to fields and facts.

/// What a label of a rule stands for.
struct LabelMeaning {
  const Kind* kind = nullptr;     ///< Of lines of a kind.
  std::vector<Pattern> patterns;  ///< Else of lines that one of these patterns finds.
};

/// What a rule's conditions define and the rest of the rule may use.
struct ConditionNames {
  Scope per = Scope::Job;
  /// Labels and kinds of the conditions that can match lines when the rule fires, and so not those
  /// under `none`.
  std::map<std::string, LabelMeaning, std::less<>> labels;
};

/// Reads a condition; adds its labels to `names`. Throws Error.
Condition load_condition(const RuleFile& file, const RuleNode& node, ConditionNames& names);

/// The field of that name, the kind's own before the header's. Throws Error.
FieldRef load_field(const RuleFile& file, Place place, const Kind& kind, std::string_view name);

/// The fact of that name, if a rule that is judged per `per` can ask for it. Throws Error.
const Fact& load_fact(const RuleFile& file, Place place, std::string_view name, Scope per);

/// "label.field" or "kind.field" with the field that it names. `names` knows the labels.
struct LabelledField {
  std::string label;
  FieldRef field;
};

LabelledField load_labelled_field(const RuleFile& file, Place place, std::string_view text,
                                  const ConditionNames& names);

/// The message with its placeholders taken apart. Throws Error.
std::vector<MessagePart> load_message(const RuleFile& file, const RuleNode& node,
                                      const ConditionNames& names);

// From `where` values, fact comparisons and counts in a rule file to what they demand.

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

// Conditions about lines: event, line, sequence.

/// {event: KIND, where, phase, in, count, as}; `keys` says which of them may stand there.
EventCondition load_event(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                          const Names& keys = keys_of_condition("event"));

/// {line: 'RE2', phase, in, count, as}
LineCondition load_line(const RuleFile& file, const RuleNode& node, ConditionNames& names,
                        const Names& keys = keys_of_condition("line"));

/// {sequence: […], unless, within, in}
SequenceCondition load_sequence(const RuleFile& file, const RuleNode& node, ConditionNames& names);

/// The kind of that name, if its single lines are kept. Throws Error.
const Kind& load_kind(const RuleFile& file, Place place, const std::string& name);

/// Notes what a label stands for. Throws Error if it stands for something else already.
void add_label(const RuleFile& file, Place place, const std::string& label, LabelMeaning meaning,
               ConditionNames& names);

/// The label under `as`, or `otherwise`.
std::string load_label(const RuleFile& file, const RuleNode& condition, std::string_view otherwise);

/// Where a condition looks: instance where nothing is said.
Reach load_reach(const RuleFile& file, const RuleNode& condition);

}  // namespace ncclog
