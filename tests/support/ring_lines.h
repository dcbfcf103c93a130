// NCCL's lines of an initialisation on several hosts: ranks, a ring over all of them, connections.

#pragma once

#include <string>

namespace ncclog::testing {

/// `hosts` hosts of `ranks_per_host` ranks, joined to one ring in the order of ranks: P2P within a
/// host, NET/IB between hosts. Each channel passes them in the same order.
std::string ring_lines(int hosts, int ranks_per_host);

}  // namespace ncclog::testing
