// Lines of other programs whose shape holes cannot express: Python's exceptions, progress bars,
// dying processes, tables that people paste, the rows of nccl-tests.
//
//   torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cuda//0
//   Validation:   1%|          | 2/210 [00:01<02:58,  1.16it/s]
//   bash: line 1:  1021 Killed                  env RANK=3 python3 train.py
//   shm              64M   64M     0 100% /dev/shm
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//
// Each recogniser is the `recognise` of one wording in log/messages/. Most lines of a training log
// are none of these: known_recognisers lists what must stand in a line before a recogniser may
// accept it, and the filter (log/other_programs_filter.h) lets all others go.

#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>

#include "log/wording/message_kind.h"

namespace ncclog {

/// How the names of Python's exceptions end.
inline constexpr std::string_view kExceptionEnds[] = {"Error", "Exception",      "Interrupt",
                                                      "Exit",  "TimeoutExpired", "StopIteration"};

/// What a shell says of a process that died.
inline constexpr std::string_view kProcessEnds[] = {
    "Segmentation fault",
    "Bus error",
    "Killed",
    "Aborted",
    "Terminated",
    "Illegal instruction",
    "Floating point exception",
    "Trace/breakpoint trap",
    "Hangup",
    "Interrupt",
    "Quit",
};

/// In what a shell says of a process that it ran from a script.
inline constexpr std::string_view kShellPlace[] = {": line "};

/// Behind the percentage of a tqdm bar.
inline constexpr std::string_view kBarMark[] = {"%|"};

/// What loops print when they leave the training for a while.
inline constexpr std::string_view kEvalPrints[] = {
    "Evaluating",         "Validating",           "Validation: ",
    "Running evaluation", "Running validation",   "***** Running Evaluation",
    "Saving checkpoint",  "saving checkpoint",    "Saving model checkpoint",
    "evaluating",         "[Eval batch=",         "***** Running Prediction",
    "Evaluation: ",       "Saving the checkpoint"};

/// Those and what loggers put in front of them.
inline constexpr auto kEvalBegins = [] {
  constexpr std::string_view kLoggers[] = {"[", "-", "INFO", "0", "1", "2", "3",
                                           "4", "5", "6",    "7", "8", "9"};
  std::array<std::string_view, std::size(kEvalPrints) + std::size(kLoggers)> begins;
  const auto end = std::copy(std::begin(kEvalPrints), std::end(kEvalPrints), begins.begin());
  std::copy(std::begin(kLoggers), std::end(kLoggers), end);
  return begins;
}();

/// How a rank says that it leaves the others.
inline constexpr std::string_view kLeavingWords[] = {"leaving",
                                                     "exhausted",
                                                     "no more data",
                                                     "out of data",
                                                     "stopping early",
                                                     "exiting",
                                                     "Exiting",
                                                     "Early stopping",
                                                     "early stopping",
                                                     "shutting down",
                                                     "aborting process group",
                                                     "aborting the process group",
                                                     "aborting communicator"};

inline constexpr std::string_view kShmMount[] = {"/dev/shm"};
inline constexpr std::string_view kMemlockQuestion[] = {"ulimit -l"};

/// The column of show_gids that tells its rows from all others, behind a blank; with kAnyDigit of
/// log/needle_filter.h.
inline constexpr std::string_view kGidVersions[] = {" v\x01", "\tv\x01"};

/// Where a prompt ends that names a user, a host or a place; with kNonBlank of
/// log/needle_filter.h.
inline constexpr std::string_view kPromptEnds[] = {"\x03$ ", "\x03# "};
inline constexpr std::string_view kBarePrompt[] = {"$ "};

/// How the other recognisers' texts begin.
inline constexpr std::string_view kComment[] = {"#"};
inline constexpr std::string_view kFailureTime[] = {"time:"};
inline constexpr std::string_view kIteration[] = {"iteration "};
inline constexpr std::string_view kStep[] = {"step:"};
inline constexpr std::string_view kMemlock[] = {"max", "Max"};
inline constexpr std::string_view kGpu[] = {"GPU"};

inline constexpr std::string_view kDigits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// A recogniser, and what every text that it accepts holds one of, or begins with one of.
struct KnownRecogniser {
  std::string_view name;  ///< By which a message file names it.
  Recogniser recognise = nullptr;
  std::span<const std::string_view> needles;  ///< As log/needle_filter.h reads them.
  std::span<const std::string_view> begins;
};

/// All that there are. Valid for the whole program.
std::span<const KnownRecogniser> known_recognisers();

// Python, shells and training loops. Each looks at a byte or a word first.

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

// Output of commands that people keep beside their logs: tables, rows of blanks and tabs.
//
//   shm              64M   64M     0 100% /dev/shm
//   GPU0    X       CNS     CNS     CNS
//   mlx5_0  1       3       0000:0000:0000:0000:0000:ffff:0a78:021f 10.120.2.31     v2      ens2f0
//
// Each function is the `recognise` of one wording in log/messages/framework/pasted.messages. Rows
// are known by their columns alone: the command that printed them may not be in the log.

/// A row of df about /dev/shm. Fields size, used, available, percent, mount.
bool recognise_shm_usage(std::string_view text, Message& message);

/// A row of ncclras' table of communicators. Fields as RasCommunicatorRow
/// (log/messages/nccl/ras_client.messages) names them.
bool recognise_ras_communicator_row(std::string_view text, Message& message);

/// A command line with "ulimit -l" at its end, joined with its answer (log/event.h). Field
/// limit.
bool recognise_memlock_answer(std::string_view text, Message& message);

/// The row of "ulimit -a" or of /proc/<pid>/limits. Fields limit, unit.
bool recognise_memlock_row(std::string_view text, Message& message);

/// A row of "nvidia-smi topo -p2p". Fields gpu, cells.
bool recognise_p2p_row(std::string_view text, Message& message);

/// A row of "nvidia-smi topo -m". Fields gpu, cells.
bool recognise_topo_row(std::string_view text, Message& message);

/// A row of show_gids. Fields device, port, index, gid, address, version, interface.
bool recognise_gid_row(std::string_view text, Message& message);

/// A prompt with a command behind it: "$ …", "root@host:~# …", "[host ~]# …". Field command.
bool recognise_shell_command(std::string_view text, Message& message);

// The tables of nccl-tests, whose rows holes cannot take apart: columns come and go by release.
//
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time …
//        8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0   5012.1 …
//
// Up to 2.10 a row had only the columns that its test needs, and the largest error instead of the
// number of wrong values. Newer ones may add per-iteration times and a time stamp.

/// Where a rank runs. Fields rank, pid, host, device, bus_id, gpu.
bool recognise_nccl_tests_rank(std::string_view text, Message& message);

/// The headings above the rows. Field columns: the names, where this line holds them.
bool recognise_nccl_tests_columns(std::string_view text, Message& message);

/// A result. Fields size, count, datatype, redop, root, time, algbw, busbw, wrong and the last four
/// with "_in_place" behind; out of place nothing where only in-place results are printed.
bool recognise_nccl_tests_result(std::string_view text, Message& message);

}  // namespace ncclog
