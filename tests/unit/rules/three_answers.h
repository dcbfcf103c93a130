// How a condition is answered, seen through rules: one fires on yes, its opposite on no.

#pragma once

#include <string>
#include <string_view>

#include "unit/rules/sample_rules.h"

namespace ncclog::testing {

/// 'y', 'n' or 'u' for the job that the log describes; `more` are further lines of the rule.
inline char answer_of(const std::string& when, std::string_view log, const std::string& more = {}) {
  const auto fires = [&](const std::string& condition) {
    return finding_of(sample_rule("my-rule", condition, more), log).id == "my-rule";
  };
  if (fires(when)) return 'y';
  return fires("{none: [" + when + "]}") ? 'n' : 'u';
}

}  // namespace ncclog::testing
