// Can this replay be carried out here, and on what?
//
//   plan.json, --vary NCCL_ALGO=Ring,Tree   → 4 runs of ranks 0 and 1 on GPUs 0 and 1
//   --hosts 3                               → refused: the plan has 2 ranks
//
// Everything is refused here that can be told before the first run. What is here stays the same
// from run to run.

#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "replay/judge/outcome.h"
#include "replay/run/gpus.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

/// A replay that can be carried out, unless `outcome` says why not.
struct PreparedReplay {
  PreparedReplay(const RunFlags& of, const ReplayMachine& on) : flags(of), machine(on) {}

  const RunFlags& flags;
  const ReplayMachine& machine;
  std::filesystem::path out = std::filesystem::absolute(flags.out);
  std::string plan_file = std::filesystem::absolute(flags.plan).native();
  ReplayPlan plan;  ///< With the deadlines that were asked for.
  RunList list;
  std::vector<int> gpus;  ///< By rank.
  Environment inherited = this_environment();
  std::optional<PlantedCorruption> corruption;
  std::vector<GpuCheck> checks;  ///< The GPUs used, before the first run.
  ReplayOutcome outcome;         ///< Without runs. If refused, what was known by then.
};

/// Looks at flags, plan and GPUs, and makes the folders of the runs. `patience`: for a
/// GPU's answer. Remarks go to `says`. `flags` and `machine` outlive what is returned. Throws
/// std::filesystem::filesystem_error where a folder cannot be made.
PreparedReplay prepare_replay(const RunFlags& flags, const ReplayMachine& machine,
                              std::chrono::milliseconds patience, std::ostream& says);

// `ncclog-replay run`: all runs of a replay, one after the other, and what came of them as a file.
//
//   result/outcome.json        written after every run, whole or not at all
//   result/run-1-defect/       nccl.node-1.4711.log, rank-0.out, …
//   result/run-2-clean/
//
// Before the first run everything is refused that can be told beforehand; after each of them the
// machine is as it was, or the outcome says what is not.

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
