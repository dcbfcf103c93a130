// `ncclog-replay run`: all runs of a replay, one after the other, and what came of them as a file.
//
//   result/outcome.json        written after every run, whole or not at all
//   result/run-1-defect/       nccl.node-1.4711.log, rank-0.out, …
//   result/run-2-clean/
//
// Before the first run everything is refused that can be told beforehand; after each of them the
// machine is as it was, or the outcome says what is not.

#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>

#include "replay/run/gpus.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

/// How long is waited for what does not come; tests are less patient.
struct CarryOutPatience {
  std::optional<RunLimits> limits;  ///< nullopt: the plan's, and the usual graces.
  std::chrono::milliseconds probe{30000};
};

/// Exit status of the program: 0 it ran, whatever came of it; 2 refused, or it could not; 130 and
/// 143 interrupted. Says on `says` what it does. A refusal is an outcome, and written as one.
/// Throws Error if no outcome can be written.
int carry_out(const RunFlags& flags, const ReplayMachine& machine, std::ostream& says,
              const CarryOutPatience& patience = {});

}  // namespace ncclog
