// Lines of other programs, and their words in NCCL's lines.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/event.h"

namespace ncclog {

// Lines of other programs, one behind the other, that mean nothing to anybody
// (log/foreign_filter.h).

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

// Does an NCCL message hold more than its process printed?
//
//   Using network Using network Socket      a name of more than a word that NCCL never prints
//   Channel 00/0 : 0[0] -> 1[1] via node-b:52:52 [1] NCCL INFO …
//
// Where several processes write into one file, a message that ends with a free text may have
// another record, or a program's words, in that text.

/// True for an NCCL message with the beginning of another record, or other people's words, in it.
bool holds_another(const Event& event);

}  // namespace ncclog
