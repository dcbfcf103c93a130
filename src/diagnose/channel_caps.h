// Does a setting keep NCCL from using the channels that it would?
//
//   NCCL_MAX_NCHANNELS set by environment to 1.
//   1 coll channels, 1 collnet channels, 0 nvls channels, 1 p2p channels, 1 p2p channels per peer
//       → job.channels_capped = yes, "NCCL_MAX_NCHANNELS=1 leaves 1 channel where NCCL makes at
//         least 2"
//
// NCCL doubles its channels, so that it never makes fewer than two; behind NVSwitches it makes
// eight or more, and what its search found is printed with GRAPH. A cap costs something only where
// the channels are as few as it says and NCCL would have made more.

#pragma once

#include "diagnose/fact.h"
#include "model/job.h"

namespace ncclog {

/// job.channels_capped: names the processes that read the setting.
FactValue channels_capped(const Job& job, const Instance&);

}  // namespace ncclog
