// What people who write rules need: list, show, check, test.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/records.h"
#include "rules/rule.h"

namespace ncclog {

/// One line per rule, by id: id, severity, confidence, role, title.
std::string list_rules(const Rulebook& rulebook);

/// Everything about one rule. Throws Error with the nearest id if there is none of that id.
std::string show_rule(const Rulebook& rulebook, std::string_view id);

/// The rule of that id. Throws Error with the nearest id if there is none.
const Rule& required_rule(const Rulebook& rulebook, std::string_view id);

/// Something wrong with a rule file, as Error would say it.
struct RuleProblem {
  std::string where;
  std::string what;
  std::string hint;
};

struct RuleCheck {
  size_t files = 0;
  std::vector<RuleProblem> problems;  ///< At most one per file; empty: all is well.
};

/// Checks every rule file that `paths` name on its own, then together with the built-in rules.
RuleCheck check_rules(const std::vector<std::string>& paths);

/// An example that does not do what it should.
struct ExampleFailure {
  std::string where;  ///< Path, line and column of the example.
  std::string what;   ///< "shm-no-space must fire, but stays quiet; it reads: …".
};

struct RuleTest {
  size_t rules = 0;
  size_t examples = 0;
  std::vector<ExampleFailure> failures;
};

/// The job that an example stands for; `matcher` is for its lines.
using ExampleReader = std::function<Job(std::string_view example, const LineMatcher& matcher)>;

/// Runs the examples of the rules, or only of those that are not built in. Each example is read by
/// `reader` and judged by the whole rulebook.
RuleTest test_rules(const Rulebook& rulebook, bool only_added, const ExampleReader& reader);

}  // namespace ncclog
