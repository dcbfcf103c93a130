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

#include "replay/exec/choose_gpus.h"
#include "replay/exec/rank_command.h"
#include "replay/exec/run_environment.h"
#include "replay/exec/run_flags.h"
#include "replay/outcome.h"

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

}  // namespace ncclog
