// Lines of other programs whose shape holes cannot express: Python's exceptions, progress bars,
// dying processes, tables that people paste, the rows of nccl-tests.
//
//   torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//   bash: line 1:  1021 Killed                  env RANK=3 python3 train.py
//   shm              64M   64M     0 100% /dev/shm
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//
// A wording in log/messages/ names its recogniser. Most lines of a training log are none of these:
// each recogniser lists what must stand in a line before it may accept it, and the filter
// (log/other_programs_filter.h) lets all others go.

#pragma once

#include <span>
#include <string_view>

#include "log/wording/message_kind.h"

namespace ncclog {

/// A command line that asks for a limit; the answer is the next line (log/event_reader.h).
inline constexpr std::string_view kMemlockQuestion[] = {"ulimit -l"};

/// The first of all recognisers.
extern const Recogniser kRecognisers[];

/// All that there are. Valid for the whole program.
std::span<const Recogniser> recognisers();

/// The number in "rank 3", "[rank 3]", "Rank: 3", "rank=3"; empty if there is none.
std::string_view rank_named_in(std::string_view text);

/// True if a progress bar's title is about evaluation or checkpoints rather than training.
bool is_eval_title(std::string_view title);

// Does a line that no wording fits report an error of NCCL, PyTorch or a launcher?
//
//   [rank3]: ncclRemoteError: A call failed possibly due to a network error …       yes
//   srun: error: n7: task 9: Exited with exit code 134                               yes
//   node7: rank 4 died from signal 6 and dumped core                                 yes
//   worker 3 exited with code 0                                                      no
//   Traceback (most recent call last):                                               its own kind
//
// What is not understood must not end in a clean verdict: such lines are kept, counted in the loss
// table and quoted. The words are few and rare, so that ordinary output holds none of them.

/// Texts one of which stands in every line that looks like an error.
std::span<const std::string_view> error_needles();

/// "exited with exit code 0": the number right behind the words, of which `behind` is the rest of
/// the line, is zero.
bool is_zero(std::string_view behind);

/// True if the line reports that a process or a call of NCCL failed.
bool looks_like_error(std::string_view line);

}  // namespace ncclog
