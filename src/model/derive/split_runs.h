// The logs of several runs, taken apart: one job for each.
//
//   train.log, nccl.a.41.log, stdout.log     what was read, a Job of 2 runs
//     → run 1: pids 9-12 and 41, with the lines around them
//       run 2: pids 71-74
//       rest:  lines that may be of either
//
// The job of a run is built as if nothing else had been read, so whoever judges it sees one run.
// Which line is whose is said in model/derive/run_parts.h.

#pragma once

#include <vector>

#include "model/derive/run_parts.h"
#include "model/job.h"

namespace ncclog {

/// Invariant: `runs` goes with `parts.runs`. Indices of inputs are those of the job as read, those
/// of processes and communicators are not.
struct SplitRuns {
  RunParts parts;
  std::vector<Job> runs;  ///< As they began; empty: the logs are of one run, or of too many.
  Job rest;               ///< What belongs to none of them.
};

/// Takes apart what was read. Nothing is copied where it is one run. Pure.
SplitRuns split_runs(const Job& read);

}  // namespace ncclog
