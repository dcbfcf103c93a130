// The findings for code scanning: SARIF 2.1.0, as OASIS standardised it in 2020.
//
//   {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ncclog", "rules": […]}},
//    "results": [{"ruleId": "shm-no-space", "level": "error", "message": {"text": "…"},
//                 "locations": [{"physicalLocation": {…"startLine": 40}}], …}]}]}
//
// A result is a finding; its fingerprint is made of the rule, hosts and ranks, so that it is the
// same when the job fails again in other files. Findings that an overlay suppresses are there, and
// marked so. What could not be judged is a notification of the tool and no result. Text from logs
// passes through printable(), and no part of it is a link or a placeholder.

#pragma once

#include <string>

#include "report/report.h"

namespace ncclog {

/// The whole log, indented, with a newline at the end.
std::string write_sarif(const Report& report);

}  // namespace ncclog
