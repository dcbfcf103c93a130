// The report for people who look at it in a browser, or attach it: one file with everything.
//
// No request leaves it, its content security policy forbids any; it can be read without its script,
// in light and in dark, on a phone and on paper. How large it may be does not depend on the log:
// tables and drawings are cut, and say so.

#pragma once

#include <string>

#include "report/report.h"

namespace ncclog {

/// The whole page, with a newline at the end.
std::string write_html(const Report& report);

}  // namespace ncclog
