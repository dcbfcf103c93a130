// On which hosts do NVSwitches join all GPUs? There every pair has NVLink, and all pairs are alike.
//
//   gpu-a:41:60 [0] NCCL INFO NVLS multicast support is available on dev 0
//   gpu-a:41:60 [0] NCCL INFO               + NVL[370.8] - NVS/0-0

#pragma once

#include <set>
#include <string>

#include "model/job.h"

namespace ncclog {

/// Hosts whose topology names an NVSwitch, or whose GPUs can use multicast, which needs one.
std::set<std::string> nvswitch_hosts(const Job& job);

}  // namespace ncclog
