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
#include "model/job.h"

namespace ncclog {

/// Who measured.
enum class MeasuredBy { NcclTests, TorchBench, DeepSpeed, Replay, Table };

/// As JSON spells it: "nccl-tests", "torch", "deepspeed", "replay"; "table": some script, whose
/// table or lines name their columns.
constexpr std::string_view enum_words(MeasuredBy) {
  return "nccl-tests|torch|deepspeed|replay|table";
}

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

  /// Of the better way.
  double time_us() const {
    return (in_place.busbw > out_of_place.busbw ? in_place : out_of_place).time_us;
  }
};

/// The curve of one operation on one set of ranks.
struct Measurement {
  MeasuredBy by = MeasuredBy::NcclTests;
  std::string name;  ///< As people know it: "all_reduce_perf", "all_reduce_bench.py".
  Operation op = Operation::Unknown;
  std::string datatype;            ///< As printed; empty: not printed.
  int nranks = -1;                 ///< -1: nothing tells.
  bool nranks_by_ratio = false;    ///< The likeliest by the rows' algbw and busbw.
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
  int64_t wrong = 0;                  ///< Comparisons that failed, as the program sums them up.
  double mean_busbw = -1;      ///< As the program sums it up, over all sizes; says little. GB/s
  bool is_mean_alone = false;  ///< The only point is that mean: the rows are missing.
};

/// All that a job measured, in input order. Owned by the job.
const std::vector<Measurement>& measurements(const Job& job);

/// The number of the input that holds the line; -1: unknown.
int64_t input_number(const Job& job, SourceRef where);

/// What benchmarks of PyTorch programs measured (benchmark_tables.cc), in input order for each
/// process. Hosts and communicators are left to measurements().
std::vector<Measurement> benchmark_measurements(const Job& job);

// How many ranks measured, where no line says so? The rows tell.
//
//   size 17179869184, 92173 us, busbw 369.86   AllReduce: 2(n-1)/n = 1.98436 ± 0.00004   → 128
//   size 33554432, 2097152 doubles             AlltoAll: the count is that of each rank  → 2
//
// nccl-tests derives busbw from the time that it prints, so one row tells n as exactly as its
// digits let it, and all rows together more exactly. What is left is a range; within it whole hosts
// of eight, four or two GPUs are likelier than other numbers.

/// A number of ranks between two others.
struct RankRange {
  static constexpr int kMost = 1 << 20;

  int least = 1;
  int most = kMost;  ///< kMost: unbounded.

  bool is_bounded() const { return most < kMost; }
  bool holds(int n) const { return least <= n && n <= most; }
  bool is_empty() const { return least > most; }

  /// Leaves what both allow. A range that contradicts this one does nothing: its row was measured or
  /// copied in another way than the others.
  void narrow_to(const RankRange& other);
  bool operator==(const RankRange&) const = default;
};

/// The number in `range` that is likeliest: the multiple of the largest power of two, 4096 at most,
/// that lies in it, next to its middle. -1: the range is empty or has no end.
int likeliest_in(const RankRange& range);

/// How far a printed number may be from the one it stands for: 0.005 of "369.86", 500000 of
/// "1.1e+07".
double rounding_of(std::string_view printed);

/// The ranks that one row allows: `bytes` as nccl-tests counts them, time in microseconds and
/// bandwidth in GB/s as printed. Unbounded where the operation's factor does not depend on ranks,
/// and where the row says nothing.
RankRange ranks_by_row(Operation op, int64_t bytes, std::string_view time, std::string_view busbw);

/// The same of two bandwidths, each of which may be off by `rounding`, in GB/s. Unbounded where one
/// of them is not known.
RankRange ranks_by_ratio(Operation op, double algbw, double busbw, double rounding);

/// The measurement is of the likeliest number in the range, if it has one.
void set_ranks_by_rows(const RankRange& range, Measurement& measurement);

}  // namespace ncclog
