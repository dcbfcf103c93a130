// What differs between two runs, as Markdown that fits a GitHub issue: the sentence, a table of the
// differences, the lines that show them in a folded section.

#pragma once

#include <string>

#include "report/difference_report.h"

namespace ncclog {

/// Whatever the logs hold stays text: no HTML, link, mention or table edge comes from them.
std::string write_difference_markdown(const DifferenceReport& report);

}  // namespace ncclog
