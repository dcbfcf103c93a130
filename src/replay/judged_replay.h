// What the sentences of a verdict are made from.

#pragma once

#include "replay/differences.h"
#include "replay/verdict.h"

namespace ncclog {

/// A replay and the pair of its runs that is judged. All of it outlives this.
struct JudgedReplay {
  const ReplayPlan& plan;
  const ReplayOutcome& outcome;
  const ReplayPair& pair;
  const Comparison& comparison;
};

}  // namespace ncclog
