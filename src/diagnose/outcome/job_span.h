// From when to when do the lines go?
//
//   {"first": "2026-11-22 08:14:05,592", "last": "2026-11-22 08:14:27.156"}

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

/// Times as printed.
struct JobSpan {
  std::string first;
  std::string last;

  bool operator==(const JobSpan&) const = default;
};

/// The earliest and the latest by the sort of clock that most of them have: with a zone or without,
/// with a year or without. Others do not compare. nullopt: none is known.
std::optional<std::pair<LineTime, LineTime>> span_of(const std::vector<LineTime>& times);

/// By the clocks of most lines that carry a time; nullopt where none does. Clocks of hosts differ.
std::optional<JobSpan> span_of(const Job& job);

/// "2026-01-05T12:00:00.000000001Z"; empty: no zone or no year is printed.
std::string utc_of(const LineTime& time);

/// "22.6 s", "17 minutes".
std::string duration_words(int64_t nanoseconds);

}  // namespace ncclog
