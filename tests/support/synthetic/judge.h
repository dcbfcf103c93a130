// Is a diagnosis right about a synthetic job?
//
// An accusation is a finding of severity error or warning whose role is cause: it says who did
// something. Symptoms list the ranks whose own lines report them, which are the ones that wait.
// "No one is named" is never wrong, only unhelpful; a name too many or an id that contradicts what
// was planted is wrong. Advice about settings is wrong as well: the settings are in order.

#pragma once

#include <string>
#include <vector>

#include "rules/finding.h"
#include "support/synthetic/synthetic_job.h"

namespace ncclog::testing {

struct Judgement {
  std::vector<std::string> wrong;  ///< What is said and not true, one sentence each.
  bool names_guilty = false;       ///< Some accusation names the guilty ranks and nobody else.
};

Judgement judge(const SyntheticJob& job, const Diagnosis& diagnosis);

/// Findings above info, one a line: "error collective-rank-missing ranks 5 hosts node-a".
std::string describe(const Diagnosis& diagnosis);

}  // namespace ncclog::testing
