// Judges a job by a rulebook.
//
// A condition has three answers: yes, no, unknown. A rule finds something only where the answer is
// yes. What could not be judged because the log lacks it becomes a question of the diagnosis.

#pragma once

#include <vector>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

/// Findings ordered by cause, the verdict over them, and what could not be judged. Pure: the same
/// rulebook and job give the same diagnosis.
/// `further` are findings that no rule made; they take part in the order and in the verdict.
Diagnosis evaluate(const Rulebook& rulebook, const Job& job, std::vector<Finding> further = {});

/// Says which line patterns of the rulebook match a line; empty if it has none. May be called from
/// any thread and outlives the rulebook.
LineMatcher make_line_matcher(const Rulebook& rulebook);

}  // namespace ncclog
