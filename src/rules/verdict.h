// The one sentence that somebody at three in the morning reads first.

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

}  // namespace ncclog
