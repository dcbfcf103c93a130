// Who reports no time-out, where others of its group report one?
//
//   ranks 0,1,3 of 4 gave up on ALLREDUCE 20      → "no time-out of rank 2 is in these logs"
//   rank 9 of 16 did                              → "15 of 16 ranks report no time-out"
//   [Rank 0] gave up on 96117, 96120 and 96125    → nobody is counted: those are several groups
//
// That no line of a rank is there accuses nobody: it ended, hangs elsewhere, or its output is missing.

#pragma once

#include <string>

#include "diagnose/facts/fact.h"

namespace ncclog {

/// Where to look if some ranks report that a work of all of them timed out: a clause and sentences
/// behind it. Where it is told of one rank that it is quiet ("no time-out of …"), it is told of all.
std::string quiet_ranks_phrase(const Job& job);

/// The only rank that reports no time-out: the end of a headline.
FactValue watchdog_quiet(const Job& job, const Instance&);

}  // namespace ncclog
