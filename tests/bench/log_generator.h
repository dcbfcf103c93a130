// What would a long training run have logged? Logs of any size for speed and memory tests.
//
//   node-a:4001:4001 [0] NCCL INFO AllGather: opCount 0 sendbuff 0x7f3eae00000 recvbuff … count
//   1048576 datatype 9 op 0 root 0 comm 0x2610000 [nranks=8] stream (nil)
//
// The lines are NCCL 2.28's (enqueue.cc, init.cc). The same options give the same bytes on every
// machine.

#pragma once

#include <cstdint>
#include <iosfwd>

namespace ncclog::testing {

enum class LogMix {
  Collectives,  ///< The init of every rank, then collective lines only.
  Irregular,    ///< The same, but no two iterations call with the same counts.
  Everything,   ///< Among them channels, settings, foreign lines of a training script.
};

struct LogOptions {
  uint64_t bytes = 1 << 20;     ///< The log ends with the line that reaches this size,
  uint64_t calls = UINT64_MAX;  ///< or with this many collective lines.
  int ranks = 8;
  int ranks_per_host = 8;
  uint32_t seed = 1;
  LogMix mix = LogMix::Collectives;
};

/// Writes a healthy log of `options.ranks` processes into one stream. Iterations of four AllGather,
/// four ReduceScatter and one AllReduce a rank, with the ranks interleaved as a launcher does.
void generate_log(const LogOptions& options, std::ostream& out);

}  // namespace ncclog::testing
