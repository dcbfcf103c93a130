// How a job is run and logged: NCCL's release, the launcher, the files, what its end leaves behind.

#pragma once

#include <cstdint>
#include <span>
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

std::span<const NcclRelease> nccl_releases();

/// Where lines go.
enum class Files {
  PerProcess,  ///< NCCL_DEBUG_FILE a process, and stdout.log.
  PerHost,
  Merged,
};

/// What the launcher puts before a line of its worker's output.
enum class LauncherPrefix { None, TorchrunTee, MpirunTag, Srun };

/// What is known of the end of a job that hung.
enum class Ending {
  Watchdog,   ///< PyTorch's watchdog on every rank that waits.
  TimeLimit,  ///< The scheduler's message.
  Nothing,
};

struct Setting {
  const NcclRelease* release = nullptr;
  Files files = Files::PerProcess;
  LauncherPrefix prefix = LauncherPrefix::None;
  Ending ending = Ending::Watchdog;
  bool logs_init = true;        ///< The INIT subsystem is on.
  bool logs_traces = false;     ///< CALL instead of COLL.
  bool stamps = false;          ///< Every line carries a time.
  bool shares_process = false;  ///< All ranks of a host are threads of one process.
  bool uses_ib = false;
  bool has_dump_signals = false;  ///< The watchdog's lines about Flight Recorder dumps.
  bool kill_is_seen = false;      ///< Somebody says that a process was killed.
  bool is_snapshot = false;       ///< Copied while the job ran.
  int timeout = 600;              ///< Seconds, of the watchdog.
  int first_pid = 4101;
};

Setting make_setting(const Layout& layout, Seeded& seeded);

}  // namespace ncclog::testing
