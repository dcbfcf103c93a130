// What must nobody conclude from a replay, although it may look like it?
//
//   not-reproduced → "That rank 5 is cleared: what did not come back once, here, may come back
//                     there."

#pragma once

#include <string>
#include <vector>

#include "replay/judged_replay.h"

namespace ncclog {

/// Of a verdict of that kind. A sentence each; never empty.
std::vector<std::string> forbidden_conclusions(const JudgedReplay& judged, ReplayVerdictKind kind);

}  // namespace ncclog
