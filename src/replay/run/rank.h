// What a rank does in a run, from its first word to the coordinator to its last; and the selftest,
// which runs ranks as threads.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/run/machine.h"
#include "replay/run/processes.h"
#include "replay/run/protocol.h"

namespace ncclog {

// The process of a rank: what its command line names, from loading NCCL to its last word.

/// Connects to the coordinator that the environment names, and carries the rank out. What cannot
/// be begun is said to the coordinator. Throws Error where there is none to say it to.
RankExit run_rank_process(const RankCommand& command);

// Does this program, with this NCCL and these GPUs, make and compare every call rightly?
//
//   AllReduce      360 calls, 23978520 elements, none wrong
//   …
//   a planted corruption of AllReduce was found: rank 1, call 1493, element 1031

/// How the selftest went.
struct SelftestResult {
  bool passed = false;
  std::string text;  ///< For people, lines with their ends.
};

/// Makes all calls of selftest_plan() on those GPUs, one rank on each, as threads; then corrupts
/// one element of a reduction and one of a movement. Throws Error if it cannot begin.
SelftestResult run_selftest(const std::vector<int>& gpus, std::shared_ptr<const NcclLibrary> nccl);

}  // namespace ncclog
