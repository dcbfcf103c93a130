// A small report made by hand: one cause, what follows from it, a warning, an info, a gap.

#pragma once

#include "report/report.h"

namespace ncclog::testing {

/// Evidence texts hold an escape sequence, a right-to-left override and bytes that are not UTF-8.
Report sample_report();

}  // namespace ncclog::testing
