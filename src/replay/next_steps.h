// What to do after a replay?
//
//   reproduced-hypothesis → "Look at what the program of rank 5 does before AllReduce, call 29 …"
//   not-comparable        → "Give the recorded release of NCCL with --nccl LIBRARY."

#pragma once

#include <string>
#include <vector>

#include "replay/judged_replay.h"

namespace ncclog {

/// After a verdict of that kind. A sentence each; may be empty.
std::vector<std::string> next_steps(const JudgedReplay& judged, ReplayVerdictKind kind);

}  // namespace ncclog
