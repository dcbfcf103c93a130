// What do reports of hosts say about findings, and what do they show that no log does?
//
//   memlock-limit, likely           + node105: any amount may be locked   → refuted, an info
//   shm-container-too-small         + c5ab17e0d2f4: /dev/shm has 64 MiB   → certain
//   nothing in the logs             + gpu-n42: ACS is on          → acs-breaks-gdr, possible
//
// A rule's clause `host` names the fact that is asked of each host of the finding. A report is no
// older than the job's logs may be: words always name it.

#pragma once

#include <optional>

#include "model/job.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace ncclog {

/// Asks the reports of the finding's hosts; of all hosts of the job, or all reports, where the
/// finding or the job names none.
void check_by_reports(const Rule& rule, const Job& job, Finding& finding);

/// What the reports show of a rule that fired on no log; nullopt: nothing, or the rule needs logs.
std::optional<Finding> finding_of_reports(const Rule& rule, const Job& job);

}  // namespace ncclog
