// Small rules and rulebooks for tests, from as little text as possible.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/derive/build_job.h"
#include "rules/evaluate.h"
#include "rules/load_rules.h"

namespace ncclog::testing {

/// A valid rule file with the given `when` and message, and further lines at its end.
inline std::string rule_yaml(const std::string& id, const std::string& when,
                             const std::string& more = {},
                             const std::string& message = "It happened.") {
  return "id: " + id +
         "\ntitle: A title\nseverity: error\nconfidence: likely\nrole: cause\nwhen: " + when +
         "\nmessage: \"" + message + "\"\nexamples: {fires: [a], quiet: [b]}\n" + more;
}

inline Rule sample_rule(const std::string& id, const std::string& when,
                        const std::string& more = {}, const std::string& message = "It happened.") {
  return load_rule(rule_yaml(id, when, more, message), "rules/" + id + ".yaml");
}

inline Rulebook rulebook_of(std::vector<Rule> rules) { return make_rulebook(std::move(rules)); }

inline Diagnosis diagnose(const Rulebook& rulebook, std::string_view log) {
  return evaluate(rulebook, job_from_text(log, make_line_matcher(rulebook)));
}

/// The finding of a rulebook of one rule; an empty id if it finds nothing.
inline Finding finding_of(Rule rule, std::string_view log) {
  const Diagnosis diagnosis = diagnose(rulebook_of({std::move(rule)}), log);
  return diagnosis.findings.empty() ? Finding{} : diagnosis.findings.front();
}

/// "where: what | hint" of the Error that `act` throws; "" if it throws none.
template <typename Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    const std::string where = error.where().empty() ? "" : error.where() + ": ";
    return where + error.what() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return {};
}

}  // namespace ncclog::testing
