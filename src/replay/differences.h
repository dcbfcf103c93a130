// In what was a replay not the recorded job?
//
//   recorded 8 ranks, replayed 2                          matters
//   recorded NCCL 2.28.9, replayed 2.28.3                 does not: another patch of one release
//   recorded NET/IB between them, replayed NET/Socket     matters
//
// A difference that matters may be what the recorded fault needs: where it is there, a replay
// without the fault proves nothing. What the replay's log does not tell may differ, too: it is a
// row without a replayed value, and no more is said of it.

#pragma once

#include <string>
#include <vector>

#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

struct ReadBack;  // replay/read_back.h

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

  bool operator==(const Comparison&) const = default;
};

/// Holds the record against one run. `seen` is what the run's own log says.
Comparison compare_with_record(const ReplayPlan& plan, const ReplayOutcome& outcome,
                               const ReadBack& seen);

/// True if some difference matters.
bool differs_in_what_matters(const std::vector<ReplayDifference>& differences);

/// The communicator that the plan's hypothesis is about; -1: none.
int tested_communicator(const ReplayPlan& plan);

/// "P2P, NET/IB".
std::string transport_names(const std::vector<TransportShare>& transports);

}  // namespace ncclog
