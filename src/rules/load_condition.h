// From the `when` of a rule file to conditions, and from names in a rule to fields and facts.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/load_rules.h"
#include "rules/rule.h"

namespace ncclog {

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

}  // namespace ncclog
