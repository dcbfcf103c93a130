// When was a line printed, as far as it says?
//
//   [2026-02-03 04:05:06] node07:41:42 [3] …     NCCL's own stamp, local time
//   2026-01-05T12:00:00.000000001Z …             a collector's, with zone
//   [E717 13:20:49.407638053 Process…            PyTorch's: month and day, no year
//   INFO 11-22 08:26:08 [core.py:58] …           vLLM's: month and day, no year
//
// Where several stamps stand in front of a message, the first counts: collectors stamp every line
// with one clock, NCCL only some.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/line/scanner.h"

namespace ncclog {

/// A line's time. Two times compare only if both have a zone or neither has.
struct LineTime {
  std::string_view text;  ///< As printed, a view into the line; empty: the line carries no time.
  bool has_zone = false;  ///< Then year and nanoseconds are UTC.
  int year = 0;           ///< 0: not printed.
  /// Since the year began. February has 29 days in every year, so that times with and without a
  /// year compare.
  int64_t nanoseconds = 0;

  bool known() const { return !text.empty(); }
};

/// The time in `head`, what stands in front of a line's message.
LineTime find_line_time(std::string_view head);

/// The time in front of `message`, which views `line`; unknown if it does not or is empty.
LineTime time_before(std::string_view line, std::string_view message);

// Time stamps as they stand. Each gives what it took; nothing is taken, and the result is empty, where
// no such stamp begins.

/// "12:00:00", with fraction and zone if there are any.
std::string_view take_clock(Scanner& scan);

/// An ISO 8601 date and time, "T" or a blank between them.
std::string_view take_iso_stamp(Scanner& scan);

/// "Jan  5 12:00:00" or "Mon Jan  5 12:00:00 2026".
std::string_view take_month_stamp(Scanner& scan);

}  // namespace ncclog
