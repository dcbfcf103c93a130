// Measurements that name their hosts, as runs over sets of hosts.
//
//   pair-a-b.log   all_reduce_perf, 16 ranks on a and b, up to 8 GiB
//   pair-a-c.log   all_reduce_perf, 16 ranks on a and c, up to 4 GiB   → both at 4 GiB
//
// Bandwidth depends on the size, and curves end at different ones: runs of a sort are read at the
// largest size that half of them have, as the median of the last three sizes, so that one bad row
// makes no run slow.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "diagnose/perf/verdict/perf_verdict.h"
#include "model/job.h"

namespace ncclog {

/// One run, or one curve of a run.
struct NodeSetRun {
  std::string name;                ///< File or folder it came from.
  std::vector<std::string> hosts;  ///< Sorted, distinct.
  std::string rail;                ///< NIC or rail that was used alone: "mlx5_3"; empty: all.
  double busbw = 0;                ///< GB/s
  /// Runs are compared where this is the same: "AllReduce, 16 ranks, up to 8 GiB".
  std::string like = {};
  /// By host, what was used alone on it where hosts differ in that: "GPU d1:00". Empty: `rail`.
  std::vector<std::string> parts = {};
  /// All NICs of a host, as far as the logs of the run name them; empty: unknown.
  std::vector<std::string> rails = {};
  double ceiling = -1;  ///< What such a run can reach, GB/s; -1: unknown.
  /// Of a run on one host: its ranks talk over the NICs (each has an NCCL_HOSTID of its own).
  bool over_network = false;

  bool operator==(const NodeSetRun&) const = default;
};

/// The measurements of a job that name their hosts, as runs; `verdicts` may know what they can
/// reach. Runs of a sort are held against each other at the largest size that most of them have.
std::vector<NodeSetRun> node_set_runs(const Job& job, std::span<const PerfVerdict> verdicts = {});

}  // namespace ncclog
