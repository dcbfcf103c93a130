// The one sentence that somebody at three in the morning reads first.

#pragma once

#include <vector>

#include "model/job.h"
#include "rules/finding.h"

namespace ncclog {

/// The verdict over findings in causal order: an error makes a problem, a warning makes the job
/// suspicious. Without either, the job is clean if NCCL was heard at all, else nothing can be
/// judged.
Verdict make_verdict(const std::vector<Finding>& findings, const Job& job);

/// Where a torn log reports a failure and no whole line explains it.
Verdict torn_verdict();

/// The first sentence of a message: up to a full stop before a blank and an upper-case letter.
std::string first_sentence(std::string_view message);

}  // namespace ncclog
