// Conditions about lines: event, line, sequence.

#pragma once

#include <string>
#include <string_view>

#include "rules/condition_keys.h"
#include "rules/load_condition.h"
#include "rules/node_reader.h"

namespace ncclog {

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
