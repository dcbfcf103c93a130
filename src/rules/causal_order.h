// In which order are findings told: which of them began it, and what follows from it?
//
//   process-killed         error, cause     explains rank-left-early
//   rank-left-early        error, symptom
//   gdr-distance           warning, advice

#pragma once

#include <vector>

#include "rules/finding.h"

namespace ncclog {

/// All that follows from a finding, directly or not.
std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause);

/// Orders findings, a cause above what follows from it: errors before warnings before info, where a
/// cause counts as severe as what it explains; causes before advice before symptoms; certain before
/// possible; then by id. What a present finding explains, directly or not, stands below it. Adds to
/// `explains` what of `explains_same_ranks` names no other ranks, and trims it to the findings that
/// are present. Same set, same order.
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ncclog
