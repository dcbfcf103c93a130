// Is a firing example worth its lines? Two trials that every one must pass.
//
//   mutation     without its essential lines the rule is quiet, so the example does show the rule
//   cross-talk   no other rule raises an error or a warning on it, except related ones
//
// An essential line is one whose loss alone silences the rule. Where several lines say the same
// thing none is essential alone, but all lines of the finding's evidence are together.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_tools.h"

namespace ncclog {

/// Ids of the errors and warnings in `found` that nothing ties to `rule`: neither `explains` or
/// `related` on either side, nor a finding that one of them asks for. A rule that a user added may
/// sharpen what a built-in one says, so built-in rules count for each other only. In the order of
/// `found`.
std::vector<std::string> unrelated_findings(const Rulebook& rulebook, const Rule& rule,
                                            const Diagnosis& found);

/// True if the rule still fires on `log` whichever line is left out, and without all the lines that
/// its finding in `found` quotes: nothing in the example is what the rule is about.
bool fires_without_evidence(const Rulebook& rulebook, const Rule& rule, std::string_view log,
                            const Diagnosis& found, const ExampleReader& reader,
                            const LineMatcher& matcher);

}  // namespace ncclog
