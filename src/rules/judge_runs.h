// Judges each run for itself, where the logs hold several, and joins what is found.
//
//   PROBLEM   Run 1: Rank 3 is missing in a collective: …; run 2: healthy, finished.
//
// The first run that failed leads. Findings of the others stay, and their messages name the run; of
// what all runs have in common nothing is said twice. Nothing is compared across runs.

#pragma once

#include "model/build/run_parts.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

/// Judges a job as if it were one run.
Diagnosis evaluate_as_one(const Rulebook& rulebook, const Job& job,
                          std::vector<Finding> further = {});

/// `whole` is what evaluate_as_one says: of it stays what is about the runs themselves.
Diagnosis judge_runs(const Rulebook& rulebook, const Job& job, const RunParts& parts,
                     Diagnosis whole);

}  // namespace ncclog
