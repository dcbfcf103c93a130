// Verdict, findings and open questions of a report, on a page.

#pragma once

#include "report/html_text.h"
#include "report/report.h"

namespace ncclog {

/// What is read first: the verdict's word and its sentence, the page's heading.
Markup html_verdict(const Report& report);

/// All findings in causal order; those that follow from another one, and those that are mere
/// information, are folded. Empty without any.
Markup html_findings(const Report& report);

/// What the logs cannot tell, and how the next ones would; empty if nothing is open.
Markup html_open_questions(const Report& report);

/// What the overlays of a site did; empty without any.
Markup html_overlays(const Report& report);

/// What a replay showed; empty if none was named.
Markup html_replay(const Report& report);

/// What a profile expects, and whether it is so; empty if none was asked for.
Markup html_profile(const Report& report);

}  // namespace ncclog
