// Do the ranks of one host get their host memory in one way?
//
//   dev-7 pid 4101: cuMem host allocations do not appear to be working; falling back to a /dev/shm/
//   … dev-7 pid 4100: Bootstrap: Using …, Using network Socket, and no such line: it did not fall
//   back
//
// From 2.24 on NCCL takes host memory through cuMem where it can, and each process probes that by
// itself. A process that could not reads a neighbour's cuMem descriptor as the name and size of a
// file in /dev/shm: a garbled name, size 0. The line above exists since 2.26.3; before, and where
// a log does not show a process from its beginning, silence proves nothing.

#pragma once

#include <string>

#include "diagnose/instance.h"
#include "model/job.h"

namespace ncclog {

/// The processes of one host, counted by how they get host memory.
struct CumemHostMemory {
  int fell_back = 0;      ///< Said that they fell back to /dev/shm.
  int switched_off = 0;   ///< NCCL_CUMEM_HOST_ENABLE=0 is set for them.
  int kept = 0;           ///< Provably did not fall back.
  int uncertain = 0;      ///< Their lines do not tell.
  bool complete = false;  ///< Every rank of the host has a process in the log.
  bool too_old = false;   ///< The release is before 2.24, which has no such memory by default.

  /// Some neighbours use cuMem memory and others provably do not.
  bool mixed() const { return kept > 0 && fell_back + switched_off > 0; }
  /// All neighbours provably do the same.
  bool alike() const {
    return too_old ||
           (complete && !mixed() && uncertain == 0 && fell_back + switched_off + kept > 0);
  }
};

/// Counts the processes of `host`, an instance of Scope::Host.
CumemHostMemory cumem_host_memory(const Job& job, const Instance& host);

/// "1 fell back from cuMem host memory, 1 did not": whatever is not zero.
std::string counts_text(const CumemHostMemory& memory);

}  // namespace ncclog
