// The sentences of a replay's verdict: what was shown, held, changed, what nobody may conclude.
//
//   reproduced-hypothesis → "As recorded, AllReduce, call 29 of communicator 0x9c1b… does not
//                            complete when rank 5 makes another call in its place; when all ranks
//                            behave, everything completes."

#pragma once

#include "replay/judge/differences.h"
#include "replay/judge/verdict.h"

namespace ncclog {

/// Fills the sentences of a verdict whose kind and confidence stand, for the pair that was judged.
void say_what_was_shown(const ReplayPlan& plan, const ReplayOutcome& outcome,
                        const ReplayPair& pair, const Comparison& comparison,
                        ReplayVerdict& verdict);

/// The same where the runner refused, or made no run.
void say_nothing_was_run(const ReplayOutcome& outcome, ReplayVerdict& verdict);

}  // namespace ncclog
