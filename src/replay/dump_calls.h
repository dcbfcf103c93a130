// From an entry of the Flight Recorder to a call that a replay can make.
//
//   nccl:_all_gather_base, input [[1024]] BFloat16, output [[8192]]
//       → AllGather of 1024 bfloat16

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/recorded_group.h"
#include "replay/plan.h"

namespace ncclog {

/// The call of collective `entry.collective_seq_id` of a group of `nranks` ranks; communicator and
/// stream are not set. nullopt: it is none that a replay can make, or the dump does not tell its
/// size or type.
std::optional<PlannedCall> call_of_entry(const FlightRecorderEntry& entry, size_t nranks);

/// The collectives of a group that a plan takes, by c10d's numbers, of which 1 is the first.
struct DumpWindow {
  int64_t from = 1;
  int64_t to = 0;                 ///< The last one; below `from`: none.
  std::vector<int64_t> left_out;  ///< Of these, those that a replay cannot make on some rank.

  bool holds(int64_t number) const;
};

/// The ranks of the group whose calls are known, by rank; fewer than two: none is returned.
std::vector<const RecordedRank*> known_ranks(const RecordedGroup& group);

/// The `last` collectives up to number `common`, which all known ranks called alike, and what some
/// called beyond them.
DumpWindow dump_window(const RecordedGroup& group, int64_t common, uint64_t last);

}  // namespace ncclog
