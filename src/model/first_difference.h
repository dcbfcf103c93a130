// From which call on do the ranks of a communicator differ?
//
//   call 0 … 19  the same on all four ranks
//   call 20      ranks 0-2: AllReduce of 1048576 float32, rank 3: AllReduce of 524288 float32
//
// Hashes of prefixes say where: within the calls that are kept, or at checkpoints. Between two
// checkpoints that stretch of the log is read again; without a reader the answer is a range.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// The sequence of one rank: a segment of a log, by its COLL or its CALL lines.
struct SequenceName {
  int log = -1;      ///< Into Job::logs.
  int segment = -1;  ///< Into that log's communicators.

  auto operator<=>(const SequenceName&) const = default;
};

/// Reads the log of a sequence again from the line `from` on and returns its next collectives, at
/// most `most` of them. Fewer, or none, where the input cannot be read again.
using CallReader = std::function<std::vector<PlacedCall>(const SequenceName& sequence,
                                                         SourceRef from, uint64_t most)>;

/// Compares the sequences of `members` (into `comm.ranks`), as far as each goes: one that only ends
/// earlier does not differ. nullopt if none differ. `reader` may be empty.
std::optional<FirstDifference> first_difference(const Job& job, const Communicator& comm,
                                                const std::vector<int>& members,
                                                const CallReader& reader);

/// Sets Communicator::difference of all communicators whose difference is not known exactly, from
/// the ranks whose calls are covered. `reader` may be empty.
void find_differences(Job& job, const CallReader& reader);

}  // namespace ncclog
