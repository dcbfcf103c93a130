// What is charted of a job: bars of calls by iteration, a lane for each process over time. Each
// chart brings the same as a table.

#pragma once

#include "model/job.h"
#include "report/document/document.h"

namespace ncclog {

/// Sentences about the iterations and bars of their calls by operation; without blocks where
/// nothing that was called can be told apart into iterations.
Section iterations_section(const Job& job);

/// A lane for each process from its first milestone to its last: initialisations, warnings, ends;
/// and all milestones as a table. Without blocks if there are none.
Section time_section(const Job& job);

}  // namespace ncclog
