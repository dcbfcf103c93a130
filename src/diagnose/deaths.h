// Which processes ended by a signal, and which rank was that?
//
//   bash: line 1:  1021 Killed                  env RANK=3 LOCAL_RANK=3 python3 train.py
//     rank      : 3 (local_rank: 1)
//     exitcode  : -9 (pid: 1021)
//
// Shells, MPI launchers, srun, torchrun and the kernel each say it in their own way; what they say
// about one pid is one death. Whoever torchrun told to stop is a victim and not listed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/fact.h"

namespace ncclog {

/// How a process ended. Only signals that come from outside or from a fault of its own memory:
/// aborts and terminations are nearly always consequences.
enum class DeathBy { Kill, SegmentationFault };

struct Death {
  DeathBy by = DeathBy::Kill;
  int64_t pid = -1;  ///< -1: not printed.
  int rank = -1;     ///< -1: not printed.
  std::string host;  ///< Empty: not printed.
  Evidence line;
};

/// All deaths that the log reports, each once, in input order.
std::vector<Death> deaths(const Job& job);

/// The process of the job that died; -1 if none of its lines are there.
int process_of(const Job& job, const Death& death);

}  // namespace ncclog
