// How a run is ended that does not come to its end by itself.
//
//   rank 1 died → "abort" to all → 5 s → SIGTERM → 2 s → SIGKILL → 10 s → given up, told as Lost
//
// The first trouble counts: what goes wrong behind it is of ranks that are being ended.

#pragma once

#include "replay/exec/run_state.h"

namespace ncclog {

/// Decides how the run ended, once, and begins to end it.
void stop_run(RunState& run, Trouble trouble);

/// The next stage of ending it, if the time of this one is over at `now`. Nothing while it runs.
void go_on_ending(RunState& run, RunClock::time_point now);

}  // namespace ncclog
