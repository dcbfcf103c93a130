// From the `when` of a rule file to conditions, and from the words of a message to its parts.
//
//   {event: shm_attach_failed, where: {size: {at_least: 1}}, in: job, as: attach}
//   {fact: job.host_count, at_least: 2}
//
// Every name is looked up here, once: a condition holds the kind, the field, the fact itself. What
// no kind, field, fact or label is called, is an error with its place and the nearest name.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule.h"
#include "rules/rule_yaml.h"

namespace ncclog {

// What may stand in a condition? The loader refuses everything else, and the JSON Schema tells
// editors the same.

struct ConditionNames;

/// A sort of condition. It is named by one key, and may have others beside it.
struct ConditionSort {
  std::string_view name;                 ///< "event"
  std::vector<std::string_view> beside;  ///< "where", "in", …
  /// Reads its `what`.
  void (*load)(const RuleNode& node, ConditionNames& names, Condition& to);
};

/// All sorts; valid for the whole program.
std::span<const ConditionSort> condition_sorts();

/// A message kind and its fields, header fields among them: what an event condition may name.
struct KindNames {
  std::string_view kind;
  std::vector<std::string_view> fields;
};
std::vector<KindNames> kind_names();

/// What may stand in a map of comparisons: "not", "contains", …
Names comparison_names();

/// Values of `in`, in the order of Reach.
std::span<const std::string_view> reach_names();

/// What a label of a rule stands for.
struct LabelMeaning {
  const Kind* kind = nullptr;     ///< Of lines of a kind.
  bool is_gathered = false;       ///< Of what `each` gathers.
  std::vector<Pattern> patterns;  ///< Else of lines that one of these patterns finds.
};

/// What a rule's conditions define and the rest of the rule may use.
struct ConditionNames {
  std::optional<Scope> per = std::nullopt;  ///< Of the rule; nullopt: any may use the condition.
  /// Labels and kinds of the conditions that can match lines when the rule fires, and so not those
  /// under `none`.
  std::map<std::string, LabelMeaning, std::less<>> labels = {};
  /// The rule was checked when ncclog was built: expressions are not compiled again.
  bool is_checked = false;
};

/// Reads a condition; adds its labels to `names`. Throws Error.
Condition load_condition(const RuleNode& node, ConditionNames& names);

/// The field that "label.field" or "kind.field" names. `names` knows the labels. Throws Error.
FieldRef load_labelled_field(Place place, std::string_view text, const ConditionNames& names);

/// The message with its placeholders taken apart. Throws Error.
std::vector<MessagePart> load_message(const RuleNode& node, const ConditionNames& names);

/// What a value must be that no event has: v, [v, w], or a map of comparisons.
std::vector<ValueTest> load_value_tests(const RuleNode& node, FieldType type);

}  // namespace ncclog
