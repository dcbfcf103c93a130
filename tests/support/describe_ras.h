// An answer of the RAS service as text, so that a test compares it with one line diff.

#pragma once

#include <string>

#include "model/ras.h"

namespace ncclog::testing {

/// The report but for its place, a line for its head and one for each of its parts.
std::string describe_ras(const RasReport& report);

}  // namespace ncclog::testing
