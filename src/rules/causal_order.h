// Which finding comes first? A cause stands above what follows from it.

#pragma once

#include <vector>

#include "rules/finding.h"

namespace ncclog {

/// Orders findings: errors before warnings before info, where a cause counts as severe as what it
/// explains; causes before advice before symptoms; certain before possible; then by id. What a
/// present finding explains, directly or not, stands below it. Adds to `explains` what of
/// `explains_same_ranks` names no other ranks, and trims it to the findings that are present. Same
/// set, same order.
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ncclog
