// From when to when do the lines go?
//
//   {"first": "2026-11-22 08:14:05,592", "last": "2026-11-22 08:14:27.156"}

#pragma once

#include <optional>
#include <string>

#include "model/job.h"

namespace ncclog {

/// Times as printed.
struct JobSpan {
  std::string first;
  std::string last;

  bool operator==(const JobSpan&) const = default;
};

/// By the clocks of most lines that carry a time; nullopt where none does. Clocks of hosts differ.
std::optional<JobSpan> span_of(const Job& job);

}  // namespace ncclog
