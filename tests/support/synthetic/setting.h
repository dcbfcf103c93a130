// How a job is run and logged: NCCL's release, the launcher, the files, what its end leaves behind.

#pragma once

#include <cstdint>
#include <string_view>

#include "support/synthetic/layout.h"

namespace ncclog::testing {

/// How PyTorch's watchdog words its lines: as in 2.1, in 2.4, or in 2.7 and later.
enum class TorchEra { V21, V24, V27 };

/// What differs between NCCL's releases in the lines that the generator prints (init.cc,
/// enqueue.cc, debug.cc of each).
struct NcclRelease {
  std::string_view name;           ///< "2.28.9"
  std::string_view cuda;           ///< As behind "+cuda".
  TorchEra torch = TorchEra::V27;  ///< Of the PyTorch that brings it along.
  bool names_function = true;      ///< "ncclCommInitRank comm …": 2.21.5 and later.
  bool child_has_id = false;       ///< Children print a commId, as before 2.23.4.
  std::string_view child_count;    ///< Word for the child's number; empty: not printed.
  bool start_names_rank = false;   ///< "[Rank 3] " before Init START: 2.29.2 and later.
  bool gathers_in_bytes = false;   ///< AllGather and Broadcast count bytes: up to 2.21.5.
  bool counts_network = true;      ///< opCount stays 0 on one host: 2.27.3 and later.
  bool has_alltoall = false;       ///< 2.28.3 and later.
  bool hides_destroy = false;      ///< Destroy belongs to its own subsystem: 2.30.3 and later.
  bool stamps_all = false;         ///< NCCL_DEBUG_TIMESTAMP_LEVELS=ALL: 2.26.2 and later.
  bool bare_banner = false;        ///< The version comes from rank 0 alone: up to 2.21.5.
};

/// Where lines go.
enum class Files {
  PerProcess,  ///< NCCL_DEBUG_FILE a process, and stdout.log.
  PerHost,
  Merged,
};

/// What the launcher or a collector puts before a line of its worker's output.
enum class LauncherPrefix {
  None,
  TorchrunTee,  ///< "[default3]:", the local rank.
  MpirunTag,    ///< "[1,3]<stdout>:", the rank.
  Srun,         ///< "3: ", the rank.
  Prrte,        ///< "[prterun-node-a-77@1,3]<stdout>: ", the rank.
  Pod,  ///< "[pod/train-worker-0/pytorch] ", the host. Collectors mark launchers' lines, too.
  CloudWatch,  ///< "  | 2026-02-03T04:05:06.123Z | ": a time, and nobody.
};

/// How a job comes to its end.
enum class Ending {
  Watchdog,  ///< PyTorch's watchdog on every rank that waits.
  Stopped,   ///< From outside: after a silence if the job hung, in mid-step if it did not.
  Finished,  ///< The program ended on all ranks.
  Copied,    ///< The logs end in mid-step, or in the hang, and nothing says why.
};

/// Who stops a job from outside; each is known by other words.
enum class Stopper {
  Torchrun,    ///< torchrun gets SIGTERM.
  Interrupt,   ///< torchrun gets Ctrl-C, and every rank a KeyboardInterrupt.
  Scancel,     ///< Slurm, without a reason.
  TimeLimit,   ///< Slurm: DUE TO TIME LIMIT.
  Preemption,  ///< Slurm: DUE TO PREEMPTION.
  Mpirun,      ///< mpirun gets Ctrl-C.
  Nobody,      ///< kill -9 of everything: no words at all.
};

/// How the program prints its steps, and its end.
enum class StepStyle {
  Plain,     ///< "iteration: 3 | consumed samples: 1024", and nothing at the end.
  Megatron,  ///< " [2026-02-03 04:05:06] iteration        3/       5 | …".
  Logger,    ///< "2026-02-03 04:05:06,123 INFO trainer[rank 0]: step 3 loss 8.31".
  Hydra,     ///< "[2026-02-03 04:05:06,123][pretrain][INFO] - step 3 | loss 8.31".
  Trainer,   ///< "{'loss': 8.31, …}" of HF Trainer.
  Lightning,
  MlPerf,     ///< ":::MLLOG {…}".
  DeepSpeed,  ///< Its launcher says how each process exits.
};

struct Setting {
  const NcclRelease* release = nullptr;
  Files files = Files::PerProcess;
  LauncherPrefix prefix = LauncherPrefix::None;
  Ending ending = Ending::Watchdog;
  Stopper stopper = Stopper::Nobody;
  StepStyle steps = StepStyle::Plain;
  bool logs_init = true;        ///< The INIT subsystem is on.
  bool logs_calls = true;       ///< The COLL or CALL subsystem is on.
  bool logs_traces = false;     ///< CALL instead of COLL.
  bool stamps = false;          ///< Every line carries a time.
  bool shares_process = false;  ///< All ranks of a host are threads of one process.
  bool uses_ib = false;
  bool has_dump_signals = false;  ///< The watchdog's lines about Flight Recorder dumps.
  bool kill_is_seen = false;      ///< Somebody says that a process was killed.
  bool aborts_at_end = false;     ///< Nobody destroys the communicators: PyTorch aborts them.
  bool is_noisy_at_end = false;   ///< Proxies complain once the work is done.
  bool restarts = false;          ///< Runs once more, from the start.
  bool says_restart = false;      ///< The launcher says that it starts its workers again.
  int timeout = 600;              ///< Seconds, of the watchdog.
  int silence = 60;               ///< Seconds from the hang to the stop.
  double pace = 0.001;            ///< Seconds a call takes on the GPU.
  double step = 0.3;              ///< Seconds that a rank computes between two iterations.
  int first_pid = 4101;
};

/// `is_healthy` decides how likely each end is; a job that does not hang may not end as drawn.
Setting make_setting(const Layout& layout, bool is_healthy, Seeded& seeded);

}  // namespace ncclog::testing
