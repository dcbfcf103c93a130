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

#include "model/job.h"

namespace ncclog {

// Do the logs hold one run, or several that happen to lie in one folder?
//
//   node01:77, node01:78   commId 0xa, rank 0 of 2 on GPU 60, rank 1 of 2 on GPU 61
//   node01:91, node01:92   commId 0xb, rank 0 of 2 on GPU 60, rank 1 of 2 on GPU 61
//     → two runs: other processes have the same ranks on the same GPUs, and no communicator joins
//       them
//   slurm-77.out: node01, node02; "CANCELLED … DUE TO PREEMPTION"; then node07, node08 with as many
//   ranks
//     → two runs: Slurm started the job again, on other hosts
//
// One job has many communicators, also some that are not joined (replicas that serve side by side),
// so being apart is not enough: the same ranks must stand on the same GPUs, or torchrun's folders
// must say that these were two attempts. A pid that begins to use NCCL again, with communicators of
// its own, had two lives, as pids in containers have, or two copies of NCCL; its lines cannot be
// told apart.

/// Processes that communicators join, directly or through others, where the logs certainly hold
/// several runs.
struct Run {
  std::string name;            ///< "run 2", "attempt 0"; run_parts sets it, find_runs does not.
  std::vector<int> processes;  ///< Into Job::processes, sorted.
  int nranks = -1;             ///< Of its largest communicator.
  int attempt = -1;            ///< As JobInput::attempt.
  bool certain = false;        ///< Else it may be a part of one of the others.
};

/// The runs in what was read, as they began, then what may be a part of one of them; empty: one
/// run. Pure.
std::vector<Run> find_runs(const Job& job);

/// The members of `comm` (into Communicator::ranks) that begin with an id that other processes of
/// the same ranks had used up: they read it from a store that an attempt before left behind. Empty
/// where nobody does. Two processes that were given one rank at a time are both not complete.
std::vector<size_t> latecomers(const Job& job, const Communicator& comm);

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
  std::vector<Run> runs;      ///< As they began; empty: one run.
  bool are_appended = false;  ///< Told by appended_runs().
  size_t earlier = 0;         ///< Further runs before the first, counted with it.
  std::vector<std::vector<RunStretch>> by_input;  ///< By index of Job::inputs, ascending.

  /// More runs than these are not taken apart: nobody keeps so many together. Of appended ones the
  /// last are.
  static constexpr size_t kMaxRuns = 16;

  /// Lines of that input (into Job::inputs) that name no process belong to the run.
  bool has_stretch(size_t input, int run) const;

  /// The run to which a line that names no process belongs; -1: nobody knows.
  int owner(const Job& job, SourceRef where) const;
};

/// The runs of a job, as far as they are certain; none where it holds one. Pure.
RunParts run_parts(const Job& job);

/// The runs of a program that were appended to its outputs, where no process of NCCL tells runs: where
/// they begin again behind a failure (model/output_starts.h), as often in each of them; none where the
/// last run did what it was started for. Pure.
RunParts appended_runs(const Job& job);

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
