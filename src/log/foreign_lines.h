// Lines around NCCL whose shape holes cannot express: Python's exceptions, progress bars, dying
// processes.
//
//   torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//   bash: line 1:  1021 Killed                  env RANK=3 python3 train.py
//
// Each function is the `recognise` of one wording in log/messages/. Most lines of a training log
// are none of these, so each looks at a byte or a word first.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// "dotted.NameError: message": the last line of a Python traceback. Fields type, message.
/// Refuses what a kind of its own knows better: NCCL's errors, out of memory, the store's errors.
bool recognise_python_exception(std::string_view text, Message& message);

/// A shell's word on a process it ran: "run.sh: line 3: 1021 Killed  python train.py", "Killed".
/// Fields pid, status, command, rank.
bool recognise_process_end(std::string_view text, Message& message);

/// "time: 2026-01-05_12:00:03" of torchrun 1.9. Field time.
bool recognise_failure_time(std::string_view text, Message& message);

/// A tqdm bar that is not about evaluation. Fields title, percent, done, total.
bool recognise_progress_bar(std::string_view text, Message& message);

/// A tqdm bar or a print that says: evaluating, validating, writing a checkpoint. Field text.
bool recognise_eval_progress(std::string_view text, Message& message);

/// A rank that says that it leaves: "[rank 3]: data exhausted after 14 steps, leaving". Fields
/// rank, text.
bool recognise_rank_leaves(std::string_view text, Message& message);

/// Megatron's padded step: "iteration       10/     500 | …". Fields iteration, total.
bool recognise_megatron_step(std::string_view text, Message& message);

/// torchtitan's padded step: "step:  7  loss:  7.1234 …". Field iteration.
bool recognise_titan_step(std::string_view text, Message& message);

/// The number in "rank 3", "[rank 3]", "Rank: 3", "rank=3"; empty if there is none.
std::string_view rank_named_in(std::string_view text);

/// True if a progress bar's title is about evaluation or checkpoints rather than training.
bool is_eval_title(std::string_view title);

}  // namespace ncclog
