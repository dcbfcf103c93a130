// The logs of several runs, taken apart: one job for each.
//
//   train.log, nccl.a.41.log, stdout.log     what was read, a Job of 2 runs
//     → run 1: pids 9-12 and 41, with the lines around them
//       run 2: pids 71-74
//       rest:  lines that may be of either
//
// The job of a run is built as if nothing else had been read, so whoever judges it sees one run.

#pragma once

#include <string>
#include <vector>

#include "model/derive/runs.h"
#include "model/job.h"

namespace ncclog {

// Which processes and which lines belong to which run, where the logs hold several?
//
//   train.log       1-277   pids 9-12, and what torchrun says of their end     run 1
//   train.log     278-571   pids 71-74                                         run 2
//   nccl.a.41.log           pid 41                                             run 1
//   stdout.log              names no pid: cut where work begins again behind a failure
//
// Lines of a process belong to its run. Lines that name no process belong to the run in whose
// stretch of the file they stand. In a file that no process of a run writes into, stretches are
// told by pids that launchers name, by times, by a folder that only one run uses, and by failures
// with work behind them. What is left belongs to nobody: it is judged, but of no run.

/// From `from` on, the lines of an input that name no process belong to a run.
struct RunStretch {
  SourceRef from;
  int run = -1;  ///< Into RunParts::runs; -1: nobody knows.
};

struct RunParts {
  std::vector<Run> runs;                          ///< As they began; empty: one run.
  std::vector<std::vector<RunStretch>> by_input;  ///< By index of Job::inputs, ascending.

  /// More runs than these are not taken apart: nobody keeps so many together.
  static constexpr size_t kMaxRuns = 16;

  /// Lines of that input (into Job::inputs) that name no process belong to the run.
  bool has_stretch(size_t input, int run) const;

  /// The run to which a line that names no process belongs; -1: nobody knows.
  int owner(const Job& job, SourceRef where) const;
};

/// The runs of a job, as far as they are certain; none where it holds one. Pure.
RunParts run_parts(const Job& job);

/// "train.log lines 278-571", "a.log and 3 more files".
std::string place_of_run(const Job& job, const RunParts& parts, int run);

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
