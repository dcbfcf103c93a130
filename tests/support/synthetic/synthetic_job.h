// A job that a seed decides: its logs, and the truth about it.
//
//   make_synthetic_job(17, Fault::Skip) → nccl.node-a.4101.log, …, stdout.log; rank 5 left out its
//   12th collective on the communicator of its tensor group
//
// The same seed gives the same bytes on every machine.

#pragma once

#include <string>
#include <vector>

#include "support/synthetic/fault.h"
#include "support/synthetic/files.h"
#include "support/synthetic/layout.h"
#include "support/synthetic/program.h"
#include "support/synthetic/setting.h"
#include "support/synthetic/simulate.h"

namespace ncclog::testing {

/// What a diagnosis of the job has to say, and what it must not.
struct Truth {
  Planted planted;
  std::vector<std::string> hosts;  ///< Of the guilty, sorted.
  bool is_hung = false;
  bool is_marred = false;  ///< Somebody did something wrong that the job can feel.
  bool must_name = false;  ///< The logs suffice to name the guilty, and nobody else.
  /// Ranks that may be named together where the logs show two sides and not which one is wrong; the
  /// guilty are among them. Empty: only the guilty may be named.
  std::vector<int> sides;
};

struct SyntheticJob {
  JobFiles files;
  Truth truth;
  Layout layout;
  LoopShape shape;
  Setting setting;
  JobRun run;
  std::vector<Program> programs;  ///< With the fault.
};

SyntheticJob make_synthetic_job(uint64_t seed, Fault fault);

/// "seed 17, wrong count: 16 ranks, tp 4 dp 2 pp 2, NCCL 2.28.9, …": for failure messages.
std::string describe(const SyntheticJob& job, uint64_t seed);

}  // namespace ncclog::testing
