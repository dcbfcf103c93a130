// What is drawn of a job on its page, besides its graphs: transports as a matrix, calls by
// iteration as bars, the time line of its processes. Each also stands there as a table or in words.

#pragma once

#include "model/job.h"
#include "report/graph/rank_paths.h"
#include "report/html/html_text.h"

namespace ncclog {

/// From each row to each column a letter and a colour; empty if no connection is placed.
Markup html_matrix(const RankPaths& paths);

/// What the letters and colours mean, of those classes that occur.
Markup html_transport_key(const RankPaths& paths);

/// Bars of calls by iteration and operation, with the same as sentences and as a table; empty where
/// nothing that was called can be told apart into iterations.
Markup html_iterations(const Job& job);

/// A lane for each process from its first milestone to its last, initialisations as bars, warnings
/// and deaths marked; and all milestones as a table. Empty if there are none.
Markup html_time_line(const Job& job);

}  // namespace ncclog
