// What overlays did to the findings, at the end of a report for people.

#pragma once

#include <string>

#include "report/text_layout.h"
#include "rules/finding.h"

namespace ncclog {

/// A heading and a line per effect and per overlay that ended; empty if there are none.
std::string overlay_text(const Diagnosis& diagnosis, const TextStyle& style);

}  // namespace ncclog
