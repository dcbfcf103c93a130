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

#include "model/job.h"
#include "model/statements.h"

namespace ncclog {

// What was a thread doing, as the frames of its stack show it?
//
//   File "/usr/lib/python3.12/threading.py", line 359 in wait                    a library's
//   File "/opt/…/torch/utils/data/dataloader.py", line 1310 in _try_get_data      tells: the loader
//   File "/srv/train.py", line 13 in train_epoch                                  its own
//         → in the data loader (train.py:13): it works, and has not come to where others wait
//
// What a frame tells is a row of frame_classes.table, and the innermost frame of which a row tells
// counts. What a line of the program's own waits for is not printed: loss.item() waits for the GPU
// as torch's synchronize does.

struct StackFrame {
  std::string function;
  std::string file;  ///< Source or library; empty: not printed.
  int line = -1;     ///< -1: not printed.
  Evidence shown;

  std::string place() const;  ///< "metrics.py:25", "libc.so.6"; empty where none was printed.
  /// "in lcs (metrics.py:25)"; "at sft.py:46" of what stands outside of functions.
  std::string words() const;
  bool is_same_place(const StackFrame& other) const {
    return function == other.function && file == other.file && line == other.line;
  }
};

/// What somebody who stands there does to the others.
enum class Stands {
  Waits,     ///< For them: in a collective call, the store, NCCL's initialisation.
  WaitsGpu,  ///< For the GPU, and so perhaps for them.
  Works,     ///< Nothing that needs them: it has not come to where they are.
  Unclear,   ///< Nothing tells.
  Helps,     ///< It is no rank.
};

/// A main thread at one moment.
struct MainStack {
  std::vector<StackFrame> frames;  ///< The innermost first; at least one.
  std::string prompt;              ///< "Overwrite? [y/N]": waits to be answered; empty: none does.
  size_t own_place = 0;            ///< Of own().
  size_t telling_place = 0;        ///< Of the frame that says what it does.
  bool is_in_library = false;      ///< The innermost frame is.
  Stands stands = Stands::Unclear;
  std::string
      words;  ///< "in the data loader (train.py:13)", "waiting in all_reduce (train.py:88)".

  /// The innermost frame of the program's own; the telling one where libraries have them all.
  const StackFrame& own() const { return frames[own_place]; }
};

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
