// What was measured? Curves of bandwidth over size, whoever printed them.
//
//   # Collective test starting: all_reduce_perf
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA H100 80GB HBM3
//      8589934592    2147483648     float     sum      -1    31319  274.3  480.0   0 …
//     → a Measurement of AllReduce over 8 ranks, with a point at 8 GiB of 480.0 GB/s
//
// nccl-tests and rccl-tests of all releases (text, JSON, CSV), benchmarks of PyTorch and DeepSpeed,
// and `replay run --time` all come down to this, in one unit: GB/s are 10^9 bytes a
// second, times are microseconds. Bus bandwidth is nccl-tests' (doc/PERFORMANCE.md): algorithm
// bandwidth by factor, so that it can be held against the rate of a link whatever the number of
// ranks.

#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/collectives.h"
#include "base/line.h"
#include "diagnose/facts/fact.h"
#include "log/nccl_names.h"
#include "model/job.h"

namespace ncclog {

/// Who measured.
enum class MeasuredBy { NcclTests, TorchBench, DeepSpeed, Replay };

/// One size, measured in one way. Negative: not printed.
struct MeasuredValue {
  double time_us = -1;
  double algbw = -1;  ///< GB/s
  double busbw = -1;  ///< GB/s
};

/// One size. A size may come several times: repetitions of one run.
struct MeasuredPoint {
  SourceRef where;
  std::string text;    ///< The line.
  int64_t bytes = -1;  ///< Of the buffer that nccl-tests' algbw is about.
  MeasuredValue out_of_place;
  MeasuredValue in_place;
  int64_t wrong = -1;  ///< Wrong values, of both ways; -1: not checked.

  /// The better of both ways, GB/s; negative: neither.
  double busbw() const { return std::max(out_of_place.busbw, in_place.busbw); }
};

/// The curve of one operation on one set of ranks.
struct Measurement {
  MeasuredBy by = MeasuredBy::NcclTests;
  std::string name;  ///< As people know it: "all_reduce_perf", "all_reduce_bench.py".
  Operation op = Operation::Unknown;
  std::string datatype;  ///< As printed; empty: not printed.
  int nranks = -1;       ///< -1: nothing tells.
  /// By the rows' algbw and busbw (diagnose/perf/measured/rank_count.h): between `nranks_least` and
  /// `nranks_most`, and of those the likeliest.
  bool nranks_by_ratio = false;
  int nranks_least = -1;
  int nranks_most = -1;
  int nhosts = -1;                 ///< -1: nothing tells.
  std::vector<std::string> hosts;  ///< Sorted, distinct; empty: not named.
  std::vector<std::string> gpus;   ///< Distinct names of models: "NVIDIA H100 80GB HBM3".
  bool shares_gpu = false;         ///< Two ranks name the same GPU of a host.
  /// Of one rank: so many processes ran the test, each for itself, as those do that were built
  /// without MPI. 0: more ranks measured.
  int lone_processes = 0;
  /// Calls of a training were timed: what a rank waits for others is part of it. It may be lower
  /// than the machine's for that reason.
  bool in_training = false;
  std::vector<std::pair<std::string, std::string>> settings;  ///< NCCL's, where its file has them.
  int process = -1;                   ///< Into Job::processes: who printed it; -1: unknown.
  int communicator = -1;              ///< Into Job::communicators: on which; -1: cannot be told.
  std::vector<MeasuredPoint> points;  ///< As printed.
  SourceRef first;                    ///< Where it begins.
  double mean_busbw = -1;  ///< As the program sums it up, over all sizes; says little. GB/s
  SourceRef mean_line;
};

/// All measurements of the job, in input order. Owned by the job.
const std::vector<Measurement>& measurements(const Job& job);

}  // namespace ncclog
