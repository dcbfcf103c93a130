// Conditions about the members of a set: among, differs.

#pragma once

#include "rules/load_condition.h"

namespace ncclog {

/// {among: SCOPE, in: SCOPE, hold: HOW, what: CONDITION, as: LABEL}
AmongCondition load_among(const RuleFile& file, const RuleNode& node, ConditionNames& names);

/// {differs: NAME, across: SCOPE, in: SCOPE, where: {…}, as: LABEL}
DiffersCondition load_differs(const RuleFile& file, const RuleNode& node, ConditionNames& names);

/// True if a rule judged per `per` has exactly one instance of `scope` around each of its own.
bool is_around(Scope scope, Scope per);

}  // namespace ncclog
