// The time stamps that collectors, loggers and kernels write in front of a line.
//
//   2026-01-05T12:00:00.000000001Z   [2026-01-05 12:00:00,123]   Mon Jan  5 12:00:00 2026
//
// Only their length matters here: nothing orders lines by them.

#pragma once

#include <string_view>

namespace ncclog {

/// Length of "12:00:00", with fraction and zone if there are any; 0 if `text` does not begin so.
size_t clock_length(std::string_view text);

/// Length of an ISO 8601 date and time, "T" or a blank between them; 0 if there is none.
size_t iso_stamp_length(std::string_view text);

/// Length of "Jan  5 12:00:00" or "Mon Jan  5 12:00:00 2026"; 0 if there is none.
size_t month_stamp_length(std::string_view text);

}  // namespace ncclog
