// Judges each run for itself, where the logs hold several, and joins what is found.
//
//   PROBLEM   Run 1: Rank 3 is missing in a collective: …; run 2: healthy, finished.
//
// The first run that failed leads. Findings of the others stay, and their messages name the run; of
// what all runs have in common nothing is said twice. Nothing is compared across runs. What belongs
// to no run is judged by itself; it may make the verdict worse, never better.

#pragma once

#include <vector>

#include "model/derive/split_runs.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

/// The diagnosis of the runs in `split`, of which there is one at least. `read` is what was taken
/// apart: of it only rules about the runs themselves are asked, and what reports of hosts show.
/// `further` are findings that no rule made.
Diagnosis judge_runs(const Rulebook& rulebook, const Job& read, SplitRuns split,
                     std::vector<Finding> further);

}  // namespace ncclog
