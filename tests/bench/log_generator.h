// Logs of any size for measuring: what would a large job have printed?
//
//   gpu-0001:40001:40001 [0] NCCL INFO AllGather: opCount 1a3f sendbuff 0x7f1000000000
//   recvbuff 0x7f1020000000 count 1048576 datatype 9 op 0 root 0 comm 0x55d0a4001000 [nranks=8]
//   stream 0x…
//
// The lines are NCCL 2.28.9's, the others those of training scripts and of PyTorch. The same
// options give the same bytes on every machine. One file a mix: collective_mix.cc, init_mix.cc,
// rehosted_mix.cc, storm_mix.cc, training_mix.cc.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace ncclog::testing {

enum class LogMix {
  Collectives,  ///< A short init of every rank, then collective lines of 200 bytes. Healthy.
  Irregular,    ///< The same, but no two iterations call with the same counts.
  Everything,   ///< Among the collectives: channels, settings, lines of a training script.
  Init,         ///< Every line of an init over InfiniBand, for one communicator after another.
  Storm,        ///< Warnings of many ranks with their way up, and the watchdogs' lines.
  Training,     ///< Output of a training script, with few NCCL lines in it.
  Random,       ///< Collectives whose operations, counts and buffers are random. Healthy.
  Steps,        ///< Step lines, Python logging, progress bars, and few NCCL lines.
  Rehosted,     ///< The init of sample_logs/healthy-2node-socket, moved to as many ranks.
  Ordered,      ///< The same, rank after rank, as files of all ranks put together.
};

/// The mix called `name`: "collectives", "irregular", "everything", "init", "storm", "training",
/// "random", "steps", "rehosted", "ordered".
/// Throws std::invalid_argument for any other name.
LogMix log_mix_named(std::string_view name);

struct LogOptions {
  /// The log ends where it reaches this size, or so many collective lines: behind a call that all
  /// ranks have made, a warning with its way up, or a communicator that is complete.
  /// LogMix::Rehosted ends at the latest where all its ranks have spoken.
  uint64_t bytes = 1 << 20;
  uint64_t calls = UINT64_MAX;
  int ranks = 8;
  int ranks_per_host = 8;
  uint32_t seed = 1;
  LogMix mix = LogMix::Collectives;
  /// Only the lines of this process, as in the file that NCCL_DEBUG_FILE gives it; -1: everybody's.
  int rank = -1;
  bool has_times = false;    ///< In front of each NCCL line, not only of warnings.
  double nccl_share = 0.02;  ///< Share of NCCL's lines in LogMix::Training and LogMix::Steps.
  int channels = 16;         ///< Of each communicator in LogMix::Init.
};

/// Writes what `options.ranks` processes print into one stream, interleaved as a launcher does it.
/// With 4,096 ranks and 16 channels, each communicator of LogMix::Init is about 200 MB.
void generate_log(const LogOptions& options, std::ostream& out);

}  // namespace ncclog::testing
