// A process of a run: the ranks that its command line names, each as rank_command.h says.

#pragma once

#include "replay/exec/rank_command.h"
#include "replay/exec/worker_protocol.h"

namespace ncclog {

/// Connects to the coordinator that the environment names, and carries the ranks out. What cannot
/// be begun is said to the coordinator. Throws Error where there is none to say it to.
RankExit run_ranks(const RankCommand& command);

}  // namespace ncclog
