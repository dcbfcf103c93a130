// What differs between two runs, as text for a terminal: the sentence that matters first.
//
//   DIFFERENT NCCL_P2P_DISABLE is not set in GOOD and 1 in BAD; that may explain …
//
//   1 setting NCCL_P2P_DISABLE; may explain 2-6
//     good    not set
//     bad     1  (bad/nccl.41.txt:18)

#pragma once

#include <string>

#include "report/difference_report.h"
#include "report/text_layout.h"

namespace ncclog {

/// Fits on one screen: of many rows the first are shown, and how many there are besides.
std::string write_difference_text(const DifferenceReport& report, const TextStyle& style);

}  // namespace ncclog
