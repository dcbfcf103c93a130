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

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/job.h"

namespace ncclog {

/// Processes that communicators join, directly or through others, where the logs certainly hold
/// several runs.
struct Run {
  std::string name;            ///< "run 2", "attempt 0"; set by split_runs.
  std::vector<int> processes;  ///< Into Job::processes, sorted.
  int nranks = -1;             ///< Of its largest communicator.
  int attempt = -1;            ///< As JobInput::attempt.
  bool certain = false;        ///< Else it may be a part of one of the others.
  bool is_last = false;        ///< No other run is known to have begun after it; by split_runs.
};

/// The runs in what was read, as they began, then what may be a part of one of them; empty: one
/// run. Pure.
std::vector<Run> find_runs(const Job& job);

/// The members of `comm` (into Communicator::ranks) that begin with an id that other processes of
/// the same ranks had used up: they read it from a store that an attempt before left behind. Empty
/// where nobody does. Two processes that were given one rank at a time are both not complete.
std::vector<size_t> latecomers(const Job& job, const Communicator& comm);

}  // namespace ncclog
