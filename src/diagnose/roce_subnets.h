// Do several RoCE NICs of one host sit in one subnet?
//
//   Got completion … localGid ::ffff:10.21.0.1 … hca mlx5_0
//   Got completion … localGid ::ffff:10.21.0.2 … hca mlx5_1     → job.roce_nics_share_subnet
//
// The kernel then answers for the address of one NIC on the wire of the other, unless it is told
// not to. Masks are not printed: addresses that agree in 24 bits seem to share a subnet.

#pragma once

#include "diagnose/fact.h"

namespace ncclog {

/// Whether two RoCE NICs of one host have addresses that agree in 24 bits; unknown where no line
/// names addresses of NICs.
FactValue roce_nics_share_subnet(const Job& job, const Instance& instance);

}  // namespace ncclog
