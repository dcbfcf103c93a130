// The verdict: the one sentence that somebody at three in the morning reads first, over findings in
// the order of their causes.
//
//   PROBLEM   Rank 3 was killed by the kernel; 4 other findings (12 lines) follow from it.

#pragma once

#include <vector>

#include "model/job.h"
#include "rules/finding.h"

namespace ncclog {

/// The verdict over findings in causal order: an error makes a problem, a warning makes the job
/// suspicious. Without either, the job is clean if it evidently finished; else nothing was found in
/// what the lines cover, or, where NCCL was not heard at all, nothing can be judged.
Verdict make_verdict(const std::vector<Finding>& findings, const Job& job);

/// The first sentence of a message: up to a full stop before a blank and an upper-case letter.
std::string first_sentence(std::string_view message);

/// Orders findings, a cause above what follows from it: errors before warnings before info, where a
/// cause counts as severe as what it explains; causes before advice before symptoms; certain before
/// possible; then by id. What a present finding explains, directly or not, stands below it. Adds to
/// `explains` what of `explains_same_ranks` names no other ranks, and trims it to the findings that
/// are present. Same set, same order.
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ncclog
