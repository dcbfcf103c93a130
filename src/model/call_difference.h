// Where the calls of a communicator's ranks begin to differ, and who called what there.
//
//   index 20: ranks 0-2 AllReduce of 1048576 float32, rank 3 AllReduce of 524288 float32

#pragma once

#include <cstdint>
#include <vector>

#include "model/call_sequence.h"

namespace ncclog {

/// Ranks that made the same call at one place of their sequences.
struct CallCamp {
  PlacedCall call;           ///< As its first member made it.
  std::vector<int> members;  ///< Into Communicator::ranks, ascending; never empty.

  bool operator==(const CallCamp&) const = default;
};

struct FirstDifference {
  uint64_t index = 0;           ///< Calls before it, alike on all ranks that made them.
  uint64_t at_most = 0;         ///< The difference lies in [index, at_most]; equal if it is exact.
  std::vector<CallCamp> camps;  ///< Largest first, then by first member; empty if not exact.

  bool is_exact() const { return index == at_most; }
  bool operator==(const FirstDifference&) const = default;
};

}  // namespace ncclog
