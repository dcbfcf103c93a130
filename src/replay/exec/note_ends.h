// Which processes of a run have ended, and what that says of the run.
//
//   rank 1 ended with 0 behind Done         as it should
//   rank 1 was ended by SIGKILL, not ours   the run is stopped: it died
//   … while another rank's error stops it   the kill is why the other one failed

#pragma once

#include "replay/exec/run_state.h"

namespace ncclog {

/// Reaps the processes that ended, after what they said last was heard.
void note_ends(RunState& run);

}  // namespace ncclog
