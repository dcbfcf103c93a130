// What did a replay show, in one sentence?
//
//   "As recorded, AllReduce, call 29 of communicator 0x9c1b… does not complete when rank 5 does not
//    make it; when all ranks behave, all calls completed and their data are right (…)."
//   "AllReduce, call 3 of communicator 0x9c1b… completes with wrong data on the replaying machine,
//    although the recorded job showed no fault there: look at these GPUs."
//
// "As recorded" is said of a standstill where the job stood still, and of nothing else.

#pragma once

#include <string>

#include "replay/verdict.h"

namespace ncclog {

/// The sentence for `pair`, which was judged to be of that kind.
std::string verdict_headline(const ReplayPlan& plan, const ReplayOutcome& outcome,
                             const ReplayPair& pair, ReplayVerdictKind kind);

/// "rank 5"; "a rank" where none is named.
std::string departed_text(const ReplayPlan& plan);

/// "AllReduce, call 29 of communicator 0x9c1b…": where the defect should show.
std::string recorded_place_text(const ReplayPlan& plan);

}  // namespace ncclog
