// What happened in each process, in order?
//
//   rank  time                 what         detail
//      0  2026-11-20 20:54:52  version      NCCL 2.28.9, CUDA 13.0
//      0  2026-11-20 20:54:52  init start   0x5d9c…, rank 0 of 4
//      0  2026-11-20 20:54:53  init end     0x5d9c…, 1.09 s (kernels 0.27, …)
//
// Lines of one process are in order. Two processes are put in order only where
// every milestone of both carries a time, and even then by their hosts' clocks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Something worth knowing that a process said.
struct Milestone {
  int process = -1;  ///< Into Job::processes.
  SourceRef where;
  std::string time;  ///< As printed; empty: the line carries none, or it was not kept.
  bool has_zone = false;
  int year = 0;             ///< 0: not printed.
  int64_t nanoseconds = 0;  ///< Since the year began.
  std::string what;         ///< "init start", "WARN", …
  std::string detail;       ///< May hold any bytes.
};

struct Timeline {
  /// First those of the timed processes in one order; then process by process.
  std::vector<Milestone> milestones;
  size_t timed_processes = 0;  ///< Whose milestones all carry comparable times.
  size_t untimed_processes = 0;
  uint64_t warnings_omitted = 0;  ///< WARN lines beyond those shown of a process.
};

/// The milestones of the job's processes. Pure: same job, same timeline.
Timeline build_timeline(const Job& job);

}  // namespace ncclog
