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

#pragma once

#include "model/job.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

/// The one place that decides a severity. An overlay that is meant (`is_meant`) and names one goes
/// before all else. `finding` was checked by reports, or is only shown by them. Of a job that was
/// ended, or of which the user says something else than that it finished, severities stay.
Severity final_severity(const Finding& finding, const Rule& rule, const Job& job,
                        const Overlay* overlay = nullptr);

/// True if the overlay is about the finding, and means everybody whom it names. With conditions on
/// hosts or ranks it means no finding that names nobody.
bool is_meant(const Overlay& overlay, const Finding& finding);

}  // namespace ncclog
