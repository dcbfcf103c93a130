// What a rank's NCCL prints about what its host does, in the words of a release.
//
//   node-a:4101:4101 [0] NCCL INFO ncclCommInitRankConfig comm 0x55d0a4001000 rank 0 nranks 8
//   cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9c1b2f0a77d01e55 - Init START
//
// Pointers differ between the communicators of one process and come back after a destroy.

#pragma once

#include "support/synthetic/setting.h"
#include "support/synthetic/simulate.h"
#include "support/synthetic/spoken_line.h"

namespace ncclog::testing {

/// Process of a rank: its own, or that of the first rank on its host.
int pid_of(const Layout& layout, const Setting& setting, int rank);

/// The lines of one rank, in order. `logs_calls`: the COLL or CALL subsystem is on.
SpokenLines nccl_lines(const Layout& layout, const Setting& setting, const Program& program,
                       const std::vector<Happening>& happenings, int rank, bool logs_calls,
                       Seeded& seeded);

/// What the rank's NCCL prints when peers close their connections at the end of a job that failed.
SpokenLines closing_lines(const Layout& layout, const Setting& setting, int rank, double time);

}  // namespace ncclog::testing
