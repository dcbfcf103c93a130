// What a group of YAML files says together: rules, the names that they share, and overlays.
//
//   site-rules/lists.yaml          names for the rules of this group
//   site-rules/net/our-rail.yaml   a rule
//   site-rules/known.yaml          an overlay

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "rules/load_rules.h"
#include "rules/shared_names.h"

namespace ncclog {

struct RuleSet {
  std::vector<Rule> rules;
  std::vector<Overlay> overlays;
  size_t files = 0;  ///< That were read, right or wrong.
};

/// Told of each file that is wrong; what it throws ends the reading.
using OnRuleError = std::function<void(const Error& error)>;

/// Reads all files that `paths` name. Their rules may use the names that some of them define, and
/// those in `shared`. A file that is wrong is left out.
RuleSet read_rule_set(const std::vector<std::string>& paths, SharedNames shared,
                      const OnRuleError& on_error);

/// Names for all rules: those of rules/lists.yaml.
SharedNames builtin_shared_names();

}  // namespace ncclog
