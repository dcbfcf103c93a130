// What can a replay not show, whatever it came to?
//
//   "The record does not tell: the release of NCCL."
//   "A collective that a CUDA graph captured is logged once and may have run many times; the replay
//    makes it once."

#pragma once

#include <string>
#include <vector>

#include "replay/judged_replay.h"

namespace ncclog {

/// Of the plan first, then of the record, of the replay's log, of the runs. A sentence each.
std::vector<std::string> verdict_limits(const JudgedReplay& judged);

}  // namespace ncclog
