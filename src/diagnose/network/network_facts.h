// Which network carries the data, is it the one that the hardware offers, and can hosts reach it?
//
//   NET/IB : Using [0]mlx5_0:1/IB            NET/Socket : Using [0]eth0:10.1.2.3<0>
//   eth0:172.17.0.3 on node-a and on node-b  an address that is of one host only
//
// The answers are facts (network_facts.cc); other facts ask only for those declared here.

#pragma once

#include "diagnose/facts/fact.h"

namespace ncclog {

// Did the first transfer between GPUs never end, and over what?
//
//   0[0] -> 1[1] via P2P/IPC; Pattern 4, … type PHB/PIX          → job.p2p_over_pcie
//   nccl-tests prints its settings and no row, then the job is cancelled
//   Watchdog caught collective operation timeout: SeqNum=1       → job.stalled_from_start
//
// P2P over PCIe passes switches and root ports whose access control, or an IOMMU, can send it
// astray: then nothing ever arrives. NVLink does not pass them.

/// Whether GPUs of a host are connected by P2P although no NVLink is between them; unknown where
/// the log shows no such connection, or nothing of the links.
FactValue p2p_over_pcie(const Job& job, const Instance& instance);

/// Whether the job stopped and not one transfer is known to have ended: nccl-tests has no row, or
/// the first two calls of groups timed out.
FactValue stalled_from_start(const Job& job, const Instance& instance);

}  // namespace ncclog
