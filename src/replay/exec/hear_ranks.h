// What the ranks of a run say, and what follows from it for the run.
//
//   {"at":"enqueue",…}              counted by exec/run_progress.h
//   {"error":"ncclAllReduce …"}     the run is stopped
//   no message, or out of turn      the run is stopped
//   the connection breaks           the rank died, unless it was done

#pragma once

#include <vector>

#include "replay/exec/run_state.h"

namespace ncclog {

/// Lets in who connected; who starts as a rank is heard from then on.
void admit_ranks(RunState& run, std::vector<Connection> newcomers);

/// Takes what the connected ranks have said, and sends what is still kept for them.
void hear_ranks(RunState& run);

/// Takes what a rank said whose process is gone, and closes its connection. A child of the process
/// may hold it open, and may even speak.
void hear_last_words(RunState& run, int rank);

}  // namespace ncclog
