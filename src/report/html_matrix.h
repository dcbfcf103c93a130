// Over which transport do the ranks reach each other, as a matrix on a page?

#pragma once

#include "report/html_text.h"
#include "report/rank_paths.h"

namespace ncclog {

/// From each row to each column a letter and a colour; empty if no connection is placed.
Markup html_matrix(const RankPaths& paths);

/// What the letters and colours mean, of those classes that occur.
Markup html_transport_key(const RankPaths& paths);

}  // namespace ncclog
