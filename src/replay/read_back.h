// What did NCCL use in a replay, by the log that it wrote there?
//
//   DIR/run-2-clean/nccl.lab-7.4711.log → release 2.28.9; communicator 0 of the plan: 24 channels,
//                                         P2P; AllReduce: RING, LL; slowest path 370.8 GB/s (NVL)
//
// The job that the log gives is laid over the plan: a communicator of the log is the one of the
// plan whose ranks ran as the same processes. What the log does not tell stays unknown.

#pragma once

#include <string>
#include <vector>

#include "model/job.h"
#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

/// A communicator of the plan as a replay's log shows it.
struct SeenCommunicator {
  int nranks = -1;                         ///< -1: the log does not show the communicator.
  int channels = -1;                       ///< Collective channels; -1: not printed.
  std::vector<TransportShare> transports;  ///< By name; empty: not printed.

  bool operator==(const SeenCommunicator&) const = default;
};

/// The slowest of the best paths between the GPUs of a replay, as NCCL's topology lines list it.
struct SlowestPath {
  double bw = -1;    ///< GB/s; -1: not printed, or some ranks are connected by a network.
  std::string type;  ///< "NVL", "PHB", …

  bool operator==(const SlowestPath&) const = default;
};

/// What one run's log says.
struct ReadBack {
  bool readable = false;                        ///< It has lines of NCCL at all.
  std::vector<std::string> nccl_versions;       ///< Distinct, sorted.
  std::vector<std::string> cuda_versions;       ///< Likewise.
  std::vector<SeenCommunicator> communicators;  ///< By communicator of the plan.
  std::vector<RecordedTuning> tuning;           ///< By op, algorithm, protocol.
  SlowestPath path;

  bool operator==(const ReadBack&) const = default;
};

/// Lays `job`, read from the logs of `run`, over `plan`. Communicators of the same ranks are told
/// apart by the order in which they were initialised.
ReadBack read_back(const Job& job, const ReplayPlan& plan, const RunOutcome& run);

}  // namespace ncclog
