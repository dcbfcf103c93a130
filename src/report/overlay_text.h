// What overlays did to the findings, at the end of a report for people.

#pragma once

#include <string>
#include <vector>

#include "report/text_layout.h"
#include "rules/finding.h"

namespace ncclog {

/// One for each effect and for each overlay that ended. May hold any bytes.
std::vector<std::string> overlay_sentences(const Diagnosis& diagnosis);

/// A heading and a line per effect and per overlay that ended; empty if there are none.
std::string overlay_text(const Diagnosis& diagnosis, const TextStyle& style);

}  // namespace ncclog
