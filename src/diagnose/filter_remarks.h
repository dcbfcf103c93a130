// What does a filter of interfaces or RDMA devices admit on the hosts that are known?
//
//   NCCL_SOCKET_IFNAME==eth0, node-a has ens5, lo   → admits nothing there
//   NCCL_IB_HCA=mlx5_1, node-a has mlx5_1, mlx5_10  → admits mlx5_10, too
//   NCCL_SOCKET_IFNAME=^docker0                     → no longer leaves lo out

#pragma once

#include <span>
#include <vector>

#include "diagnose/environment_lint.h"
#include "diagnose/nccl_variables.h"

namespace ncclog {

/// Remarks on a setting whose value is a filter; none for other settings. Hosts of which no
/// devices are known say nothing.
std::vector<Remark> judge_filter(const NcclVariable& variable, const Setting& setting,
                                 std::span<const HostDevices> hosts);

/// What a filter that admits none of `names` may have meant: "did you mean ens5?"; empty if
/// nothing is near.
std::string filter_meant(std::string_view filter, std::span<const std::string> names);

}  // namespace ncclog
