// The process of a rank: what its command line names, from loading NCCL to its last word.

#pragma once

#include "replay/exec/rank_command.h"
#include "replay/exec/worker_protocol.h"

namespace ncclog {

/// Connects to the coordinator that the environment names, and carries the rank out. What cannot
/// be begun is said to the coordinator. Throws Error where there is none to say it to.
RankExit run_rank_process(const RankCommand& command);

}  // namespace ncclog
