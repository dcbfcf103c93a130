// In what was a replay not the recorded job: releases, number of ranks, channels, transports,
// algorithms, settings?
//
//   DIR/run-2-clean/nccl.lab-7.4711.log → release 2.28.9; communicator 0 of the plan: 24 channels,
//                                         P2P; AllReduce: RING, LL; slowest path 370.8 GB/s (NVL)
//   recorded: 16 channels, NET/IB       → channels differ; transports differ, which matters
//
// NCCL's own log of a run is read back and laid over the plan: a communicator of the log is the one
// of the plan whose ranks ran as the same processes. What the log does not tell stays unknown.

#pragma once

#include <string>
#include <vector>

#include "model/job.h"
#include "replay/judge/outcome.h"
#include "replay/plan/plan.h"

namespace ncclog {

/// What one run's log says.
struct ReadBack {
  bool readable = false;                   ///< It has lines of NCCL at all.
  std::vector<std::string> nccl_versions;  ///< Distinct, sorted.
  std::vector<std::string> cuda_versions;  ///< Likewise.
  /// Those of the plan, with size, channels and transports of the replay; as made: the log does not
  /// show it.
  std::vector<PlannedCommunicator> communicators;
  std::vector<RecordedTuning> tuning;  ///< By op, algorithm, protocol.
  /// The slowest of the best paths between the GPUs, as NCCL's topology lines list it; without
  /// bandwidth: not printed, or some ranks are connected by a network.
  SystemPath path;
};

/// Lays `job`, read from the logs of `run`, over `plan`. Communicators of the same ranks are told
/// apart by the order in which they were initialised.
ReadBack read_back(const Job& job, const ReplayPlan& plan, const RunOutcome& run);

// In what was a replay not the recorded job?
//
//   recorded 8 ranks, replayed 2                          matters
//   recorded NCCL 2.28.9, replayed 2.28.3                 does not: another patch of one release
//   recorded NET/IB between them, replayed NET/Socket     matters
//
// A difference that matters may be what the recorded fault needs: where it is there, a replay
// without the fault proves nothing. What the replay's log does not tell may differ, too: it is a
// row without a replayed value, and no more is said of it.

/// One thing in which a replay was not like the record.
struct ReplayDifference {
  std::string what;      ///< "transports of communicator 0x9c1b…".
  std::string recorded;  ///< "P2P, NET/IB".
  std::string replayed;  ///< Empty: the replay's log does not tell.
  bool matters = false;

  bool operator==(const ReplayDifference&) const = default;
};

/// What a replay had in common with the record, and in what it differed.
struct Comparison {
  std::vector<ReplayDifference> differences;  ///< Those that matter first, else in a fixed order.
  std::vector<std::string> same;  ///< "NCCL 2.28.9", "transports of communicator 0x9c1b…: P2P".
  std::vector<std::string> unknown;  ///< What the record does not tell; "the release of NCCL".
};

/// Holds the record against one run. `seen` is what the run's own log says.
Comparison compare_with_record(const ReplayPlan& plan, const ReplayOutcome& outcome,
                               const ReadBack& seen);

// Which settings of the job were in force in a replay, and which are the replay's own?
//
//   recorded NCCL_ALGO=Ring, set              → held: "NCCL_ALGO=Ring"
//   recorded NCCL_MNNVL_ENABLE=0, left out,
//       but pseudo-hosts set it to 0, too     → held: "NCCL_MNNVL_ENABLE=0"
//   recorded NCCL_NET_PLUGIN=ofi, left out    → changed: "NCCL_NET_PLUGIN=ofi is not set: …"
//   --set NCCL_PROTO=LL128                    → changed: "set for the replay: NCCL_PROTO=LL128"
//
// What every replay sets to log, to keep multicast off and to make pseudo-hosts is not told.

/// Holds the plan's settings against those of the outcome, with what was varied in `run`. Adds to
/// `held` those that are in force as recorded ("NCCL_ALGO=Ring"), to `changed` what is not, in
/// clauses without a full stop.
void compare_settings(const ReplayPlan& plan, const ReplayOutcome& outcome, const RunOutcome& run,
                      std::vector<std::string>& held, std::vector<std::string>& changed);

}  // namespace ncclog
