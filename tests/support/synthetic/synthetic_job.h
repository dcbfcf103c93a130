// A job that a seed decides: its logs, and the truth about it.
//
//   make_synthetic_job(17, Fault::Skip) → nccl.node-a.4101.log, …, stdout.log; rank 5 left out its
//   12th collective on the communicator of its tensor group
//
// A job may run more than once: what hung or was stopped is started again, with new pids, and
// writes behind what is there. The fault is in the first run.
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
#include "support/synthetic/truth.h"

namespace ncclog::testing {

struct SyntheticJob {
  JobFiles files;
  Truth truth;
  Layout layout;
  LoopShape shape;
  std::vector<Attempt> attempts;  ///< At least one; the first has the fault.

  const Attempt& first() const { return attempts.front(); }
};

SyntheticJob make_synthetic_job(uint64_t seed, Fault fault);

/// What a seed plants where nobody asks for a fault: in one of four jobs nothing.
Fault fault_of(uint64_t seed);

/// "seed 17, wrong count: 16 ranks, tp 4 dp 2 pp 2, NCCL 2.28.9, …": for failure messages.
std::string describe(const SyntheticJob& job, uint64_t seed);

/// "stopped after silence", "finished", …; how the first run ends.
std::string_view name_of_end(const SyntheticJob& job);

}  // namespace ncclog::testing
