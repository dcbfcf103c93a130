// The findings of a run as traits, so that two runs' findings are compared like everything else.
//
//   shm-no-space   "error: Rank 1 on node-a could not … (ranks 1,3)"
//
// Findings are alike if they have the same id, severity and ranks; words, hosts and confidence
// depend on what was logged.

#pragma once

#include <vector>

#include "diagnose/compare/run_difference.h"
#include "rules/finding.h"

namespace ncclog {

/// One trait for each finding, by id. Those of severity info are notes.
std::vector<Trait> finding_traits(const Diagnosis& diagnosis, const Job& job);

}  // namespace ncclog
