// What a rank does in a run, from its first word to the coordinator to its last.
//
// One thread works, the other serves the coordinator, so that "abort" is heard whatever NCCL does.
// No globals: the ranks of a selftest are threads of one process, each on its own GPU.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "replay/exec/compared_elements.h"
#include "replay/exec/nccl_library.h"
#include "replay/exec/rank_command.h"
#include "replay/exec/worker_protocol.h"
#include "replay/plan.h"

namespace ncclog {

/// What one rank has to do.
struct RankTask {
  std::shared_ptr<const ReplayPlan> plan;
  MadeIn mode = MadeIn::Clean;
  int rank = -1;       ///< Into the plan's.
  int gpu = -1;        ///< CUDA's index.
  int timed_runs = 0;  ///< 0: nothing is timed.
  std::optional<PlantedCorruption> corrupt;
  /// Is told what was compared, call by call, before the coordinator hears the sum; may be empty.
  std::function<void(const std::vector<ComparedElements>&)> tell_results;
};

/// How a rank reaches its coordinator. Used by one thread.
struct RankLink {
  std::function<void(const RankMessage&)> say;

  /// Waits so long for an order; nullopt: none came. A broken link is an order to abort.
  std::function<std::optional<RunOrder>(std::chrono::milliseconds)> hear;
};

/// Runs the rank to its end. Where that is not Done, a thread and memory of the GPU may be left
/// behind, which only the end of the process takes away.
RankExit run_rank(const RankTask& task, std::shared_ptr<const NcclLibrary> nccl,
                  const RankLink& link);

/// A link to the coordinator at `address`, which is told `token`. Throws Error.
RankLink connect_rank(const std::string& address, const std::string& token);

}  // namespace ncclog
