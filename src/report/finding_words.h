// What every format of the report says about findings: whom one names, what follows from it.
//
//   "ranks 1,3 on gpu-node-01"      subject_words
//   watchdog-timeout explains …     consequences

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace ncclog {

/// "PROBLEM", "CANNOT JUDGE".
std::string_view verdict_word(VerdictStatus status);

/// The finding of that id; nullptr if there is none.
const Finding* find_finding(const Report& report, std::string_view id);

/// Present findings that follow from `cause`, directly or not, in report order.
std::vector<const Finding*> consequences(const Report& report, const Finding& cause);

/// Findings that are neither `main` (nullptr: none) nor follow from another one, in report order.
std::vector<const Finding*> independent_findings(const Report& report, const Finding* main);

/// "ranks 0-3 on node-a, node-b"; empty if the finding names nobody. May hold any bytes.
std::string subject_words(const Finding& finding);

/// "peer-closed-secondary (ranks 0,2,3)".
std::string named_with_ranks(const Finding& finding);

/// What a finding's message says beyond the headline, which begins like it. Views `message`.
std::string_view beyond_headline(std::string_view headline, std::string_view message);

/// True for an item of check, fix or do_not that is typed as it stands. Prose starts with a capital
/// or ends a sentence.
bool is_command(std::string_view item);

}  // namespace ncclog
