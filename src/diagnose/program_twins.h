// Which rank left the order of calls that ranks like it keep?
//
//   rank 5:  Recv←3 Send→7 Recv←3 Recv←7 Send→7 …        of the same stage in the next group
//   rank 4:  Recv←2 Recv←2 Send→6 Recv←2 Recv←6 …        left out its first Send
//       → rank 4
//
// Ranks of one stage run one program over their own communicators. Whoever waits has made a part
// of it, from its beginning; who left a call out, or made one too many, has made something else.
// Where a stage has two ranks, each of them differs from the other: then who did not do as it
// always had, if one of them did.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "diagnose/rank_programs.h"
#include "model/job.h"

namespace ncclog {

/// A rank that departed from a twin.
struct TwinDeparture {
  Waiter twin;
  RankCall made;   ///< The first call that differs.
  RankCall usual;  ///< What the twin called there.
};

/// Where the rank made something else than all ranks like it; nullopt: it has none, or it is only
/// behind or ahead of one of them, or of the two that differ the other one left its own past. Pure.
std::optional<TwinDeparture> departure_from_twins(const Job& job, const Waiter& waiter);

/// What `a` called is a beginning of what `b` called, each on its own communicators, or the same.
/// False where either's calls are not known, and in jobs of very many ranks. Pure.
bool made_no_more(const Job& job, const Waiter& a, const Waiter& b);

/// All ranks that departed from ranks like them. Empty for jobs of very many ranks, where nobody
/// compares them all. Valid as long as the job.
const std::vector<Waiter>& departed_from_twins(const Job& job);

}  // namespace ncclog
