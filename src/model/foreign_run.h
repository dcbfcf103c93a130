// Lines of other programs, one behind the other, that mean nothing to anybody
// (log/foreign_filter.h).

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

/// Whole lines, each with its line end. Views bytes of whoever reads the input.
struct ForeignRun {
  std::string_view text;
  uint64_t number = 0;  ///< Line of the first.
  uint64_t lines = 0;
  uint64_t empty = 0;    ///< Lines of no bytes.
  bool is_copy = false;  ///< The bytes are the holder's own, and go away with the run.
};

/// The first `lines` lines of `run`, which has that many; they are taken off it.
ForeignRun take_lines(ForeignRun& run, uint64_t lines);

/// The same of the last lines.
ForeignRun take_last_lines(ForeignRun& run, uint64_t lines);

}  // namespace ncclog
