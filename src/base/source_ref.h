// Where a fact stands in the input: every claim of a report leads back to one of these.

#pragma once

#include <compare>
#include <cstdint>

namespace ncclog {

/// A line of the input, named so that results of separately read stretches can be joined as they
/// are.
///
/// A unit is a whole input, a stretch of a large one, or a member of an archive. Units are numbered
/// in input order, with gaps: how many members an archive has is not known before it is read. Lines
/// are counted from 1 inside the unit. The pair orders all lines of a run. Which file and which
/// line of it this is follows from the run's unit table (model/job.h).
struct SourceRef {
  uint64_t unit = 0;
  uint64_t line = 0;  ///< 1-based inside the unit; 0 = no line.

  auto operator<=>(const SourceRef&) const = default;
};

}  // namespace ncclog
