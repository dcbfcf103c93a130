// A small report made by hand: one cause, what follows from it, a warning, an info, a gap.

#pragma once

#include <string_view>

#include "report/report.h"

namespace ncclog::testing {

/// Evidence texts hold an escape sequence, a right-to-left override and bytes that are not UTF-8.
Report sample_report();

/// Judges a log by the built-in rules, as if it were a file called "log.txt".
Report report_on_text(std::string_view text);

}  // namespace ncclog::testing
