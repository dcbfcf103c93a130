// What findings come to: how severe each is in the end, in which order they are told, and the one
// sentence that somebody at three in the morning reads first.
//
//   PROBLEM   Rank 3 on node-a was killed by the kernel.

#pragma once

#include <vector>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

// How severe is a finding in the end, beside what its rule says?
//
//   gdr-distance, advice of severity warning, on a job that finished   → info: slower, not broken
//   socket-instead-of-ib, which halves the bandwidth, on the same      → still a warning
//   failure-unexplained, a last resort, on the same                    → info: the job outlived it
//   memlock-limit, refuted by the report of its host                   → info
//   acs-breaks-gdr, which no line of a log shows                       → a warning at most
//   nic-down, with "severity: info" in an overlay for its host         → info
//
// Whoever reads "suspicious" of a job that did its work looks for a fault that is not there.

/// The one place that decides a severity. An overlay that is meant (`is_meant`) and names one goes
/// before all else. `finding` was checked by reports, or is only shown by them. Of a job that was
/// ended, or of which the user says something else than that it finished, severities stay.
Severity final_severity(const Finding& finding, const Rule& rule, const Job& job,
                        const Overlay* overlay = nullptr);

/// True if the overlay is about the finding, and means everybody whom it names. With conditions on
/// hosts or ranks it means no finding that names nobody.
bool is_meant(const Overlay& overlay, const Finding& finding);

// In which order are findings told: which of them began it, and what follows from it?
//
//   process-killed         error, cause     explains rank-left-early
//   rank-left-early        error, symptom
//   gdr-distance           warning, advice

/// All that follows from a finding, directly or not.
std::vector<const Finding*> consequences_of(const std::vector<Finding>& findings,
                                            const Finding& cause);

/// Orders findings, a cause above what follows from it: errors before warnings before info, where a
/// cause counts as severe as what it explains; what tells where the job stopped before the rest;
/// causes before advice before symptoms; certain before possible; then by id; but of errors that do
/// not explain each other, one whose first line came before that of another, in one process or
/// kernel, or by the clocks on both, stands before it. What a present finding explains, directly or
/// not, stands below it. Adds to `explains` what of `explains_same_ranks` names no other ranks, and trims it to
/// the findings that are present; a finding that explains what another witness tells of the same
/// ranks says so. Same set, same order.
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

// The verdict, over findings in the order of their causes.

/// The verdict over findings in causal order: an error makes a problem, so does a warning on a job
/// that failed; else a warning makes it suspicious. Without either, the job is clean if it evidently
/// finished; else nothing was found in what the lines cover, or, where neither NCCL was heard nor
/// steps or an end were seen, nothing can be judged. Where lines of too many processes were left out,
/// or hosts are missing, the headline says so, and nothing is clean.
Verdict make_verdict(const std::vector<Finding>& findings, const Job& job);

/// The verdict with how many of the hosts it rests on, where no line comes from some.
Verdict within_hosts(Verdict verdict, const Job& job);

/// Where nothing was found but an overlay suppresses an error or a warning, the headline says so.
void mention_suppressed(const std::vector<OverlayEffect>& overlays, Verdict& verdict);

}  // namespace ncclog
