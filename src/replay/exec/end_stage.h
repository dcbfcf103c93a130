// The way a process is brought to its end that does not come by itself.
//
//   "abort" → 5 s → SIGTERM → 2 s → SIGKILL → 10 s → given up

#pragma once

#include <chrono>

#include "replay/exec/run_progress.h"

namespace ncclog {

/// How a run stands. Every stage but the first is on the way to its end.
enum class EndStage { Running, Aborting, Terminating, Killing, GivenUp };

/// How long a stage behind Running lasts at most.
inline std::chrono::milliseconds grace_of(EndStage stage, const RunLimits& limits) {
  switch (stage) {
    case EndStage::Aborting:
      return limits.abort_grace;
    case EndStage::Terminating:
      return limits.terminate_grace;
    case EndStage::Killing:
      return limits.kill_grace;
    case EndStage::Running:
    case EndStage::GivenUp:
      break;
  }
  return {};
}

}  // namespace ncclog
