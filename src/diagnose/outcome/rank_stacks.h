// Where did the ranks stand in their programs, as their stacks show it?
//
//   Timeout (0:00:22)!                                          rank 2, its first stack of two
//   Thread 0x00007fa1cd1ff6c0 (most recent call first):         a helper's: passed over
//     <no Python frame>
//   Thread 0x00007fa51270e140 (most recent call first):         the main thread's: ends in <module>
//     File "/usr/lib/python3.12/threading.py", line 359 in wait
//     File "/opt/lib/python3.12/site-packages/torch/utils/data/dataloader.py", line 1310 in _try_get_data
//     File "/srv/train.py", line 13 in train_epoch              its own code
//     File "/srv/train.py", line 25 in <module>
//         → rank 2 was in the data loader (train.py:13)
//
// Of each process the main thread counts: threads of NCCL's proxy, of data loaders and watchdogs
// wait by design. Lines before a stack say whose it is; where none does, it is the process's that
// printed it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/outcome/main_stack.h"
#include "model/job.h"

namespace ncclog {

/// The stacks of one process.
struct RankStacks {
  int process = -1;                 ///< Into Job::processes; -1: nothing but its stacks names it.
  int rank = -1;                    ///< Global rank; -1: unknown.
  int64_t pid = -1;                 ///< -1: unknown.
  std::string title;                ///< "PP2 TP1" of "sglang::scheduler_PP2_TP1"; empty: none.
  std::vector<MainStack> stacks;    ///< Oldest first.
  std::optional<Evidence> refused;  ///< It was asked for its stacks and did not answer.
  bool is_pasted = false;  ///< Frames without a heading: whose they are, and of when, nothing says.
};

/// Of all processes whose stacks the logs hold, by rank, then by place. Derived once.
const std::vector<RankStacks>& rank_stacks(const Job& job);

/// "ranks 0-2", "PP2 TP1", "pids 41,42": who these are; more titles or pids than `most` are counted.
std::string stacks_phrase(const std::vector<const RankStacks*>& who, size_t most = 3);

}  // namespace ncclog
