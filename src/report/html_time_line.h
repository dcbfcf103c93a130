// What happened when, as a drawing on a page, where lines carry times.

#pragma once

#include "model/job.h"
#include "report/html_text.h"

namespace ncclog {

/// A lane for each process from its first milestone to its last, initialisations as bars, warnings
/// and deaths marked; and all milestones as a table. Empty if there are none.
Markup html_time_line(const Job& job);

}  // namespace ncclog
