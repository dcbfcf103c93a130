// The verdict: the one sentence that somebody at three in the morning reads first, over findings in
// the order of their causes.
//
//   PROBLEM   Rank 3 was killed by the kernel; 4 other findings (12 lines) follow from it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "rules/finding.h"

namespace ncclog {

/// The verdict over findings in causal order: an error makes a problem, a warning makes the job
/// suspicious. Without either, the job is clean if it evidently finished; else nothing was found in
/// what the lines cover, or, where NCCL was not heard at all, nothing can be judged.
Verdict make_verdict(const std::vector<Finding>& findings, const Job& job);

/// Where nothing was found but an overlay suppresses an error or a warning, the headline says so.
void mention_suppressed(const std::vector<OverlayEffect>& overlays, Verdict& verdict);

/// The sentence without the full stop at its end.
std::string without_stop(std::string sentence);

/// The first sentence of a message: up to a full stop before a blank and an upper-case letter.
std::string first_sentence(std::string_view message);

}  // namespace ncclog
