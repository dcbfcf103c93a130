// Which settings of the job were in force in a replay, and which are the replay's own?
//
//   recorded NCCL_ALGO=Ring, set              → held: "NCCL_ALGO=Ring"
//   recorded NCCL_MNNVL_ENABLE=0, left out,
//       but pseudo-hosts set it to 0, too     → held: "NCCL_MNNVL_ENABLE=0"
//   recorded NCCL_NET_PLUGIN=ofi, left out    → changed: "NCCL_NET_PLUGIN=ofi is not set: …"
//   --set NCCL_PROTO=LL128                    → changed: "set for the replay: NCCL_PROTO=LL128"
//
// What every replay sets to log, to keep multicast off and to make pseudo-hosts is not told.

#pragma once

#include <string>
#include <vector>

#include "replay/outcome.h"
#include "replay/plan.h"

namespace ncclog {

/// How the recorded settings fared.
struct SettingsKept {
  std::vector<std::string> held;     ///< In force as recorded; "NCCL_ALGO=Ring".
  std::vector<std::string> changed;  ///< Clauses without a full stop.

  bool operator==(const SettingsKept&) const = default;
};

/// Holds the plan's settings against those of the outcome, with what was varied in `run`.
SettingsKept settings_kept(const ReplayPlan& plan, const ReplayOutcome& outcome,
                           const RunOutcome& run);

}  // namespace ncclog
