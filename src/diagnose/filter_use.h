// What did the filters of interfaces and RDMA devices do to this job?
//
//   NCCL_SOCKET_IFNAME set by environment to ib9, then: no socket interface found
//   NCCL_IB_HCA set to mlx5_1, then: NET/IB : Using [0]mlx5_1:1/IB [1]mlx5_10:1/IB
//
// NCCL lists what a filter admitted, so the lists of other processes and hosts tell what else there
// is.

#pragma once

#include <vector>

#include "diagnose/job_settings.h"

namespace ncclog {

/// Filters that left a process without devices, or admitted more than their names say.
std::vector<JobRemark> judge_filters_in_use(const Job& job);

}  // namespace ncclog
