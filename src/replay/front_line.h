// Where did a replay stand still, by what its ranks had begun and completed?
//
//   communicator 0   rank 0: … 27 completed, 28 entered       rank 1: … 27 completed, then nothing
//   → communicator 0, call 28: entered by 0, missing 1
//
// Pure: the plan, the mode and what the ranks reported, nothing else. Calls of one communicator are
// paired by order, as NCCL pairs them: the k-th collective of each rank; the k-th Send from one
// rank to another with that one's k-th Recv from it.

#pragma once

#include <optional>
#include <vector>

#include "replay/outcome.h"

namespace ncclog {

/// True if the rank's call at `place` (into calls_in() of its rank) was completed by the GPU.
bool is_completed(const RankOutcome& rank, uint64_t place);

/// The front of one communicator: its first call that was not completed by all with the right data,
/// where some rank has an open call in it, or a wrong one: a call that others skipped may be
/// completed with the data of their next one, and the hang then comes later. Of several open
/// messages those come first whose other end did not come. `ranks` is by rank of the plan. nullopt:
/// the communicator does not stand still.
std::optional<FrontLine> front_of(const ReplayPlan& plan, MadeIn mode, int communicator,
                                  const std::vector<RankOutcome>& ranks);

/// The front that counts: that of the hypothesis' communicator if it stands still, else the first
/// in the plan's order. nullopt: none stands still.
std::optional<FrontLine> front_line(const ReplayPlan& plan, MadeIn mode,
                                    const std::vector<RankOutcome>& ranks);

}  // namespace ncclog
