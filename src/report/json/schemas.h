// The JSON Schemas of what ncclog writes and reads as JSON or YAML, draft 2020-12. They are made of
// the tables and names by which the program itself writes and reads, so that a key that is added is
// in them.

#pragma once

#include <string>

#include "rules/rule.h"

namespace ncclog {

/// Of `ncclog analyze --format json`.
std::string report_schema();

/// Of `ncclog diff --format json`.
std::string difference_schema();

/// Of rule files, files of shared names and overlays: what an editor needs to complete names and to
/// underline mistakes while somebody types.
///
///   # yaml-language-server: $schema=/usr/share/ncclog/rules/rule.schema.json
///
/// It names the rules of the rulebook where a rule's id may stand. It knows no more than names and
/// shapes; `ncclog rules check` has the last word.
std::string rule_schema(const Rulebook& rulebook);

}  // namespace ncclog
