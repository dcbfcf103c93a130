// What differs between two runs, as JSON of the schema ncclog.diff/1 (diff.schema.json).

#pragma once

#include <string>

#include "report/difference_report.h"

namespace ncclog {

/// One object, indented by two blanks. Everything is there; strings are valid UTF-8.
std::string write_difference_json(const DifferenceReport& report);

}  // namespace ncclog
