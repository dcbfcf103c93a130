// The JSON Schema of rule files, files of shared names and overlays: what an editor needs to
// complete names and to underline mistakes while somebody types.
//
//   # yaml-language-server: $schema=/usr/share/ncclog/rules/rule.schema.json
//
// Made from the program's own tables, so that a message kind, a fact or a question that is added is
// in it. It knows no more than names and shapes; `ncclog rules check` has the last word.

#pragma once

#include <string>

#include "rules/rule.h"

namespace ncclog {

/// The schema, draft 2020-12; names the rules of the rulebook where a rule's id may stand.
std::string rule_schema(const Rulebook& rulebook);

}  // namespace ncclog
