// Where does each rank of a generated init stand in rings and trees, and what does NCCL print of
// it?
//
//   Channel 00/16 :    0    1    2    3 …                            first rank only
//   Ring 00 : 15 -> 0 -> 1
//   Trees [0] 1/8/16->0->-1 [1] …
//   Channel 00/0 : 15[7] -> 0[0] [receive] via NET/IB/0/GDRDMA       and what the proxy says about
//   it
//
// Hosts have eight GPUs and a NIC for each. The ring of channel c enters a host at GPU c and passes
// all its GPUs in order. The tree of channel c is a chain from GPU c within a host, and a binary
// tree over the hosts, in the other direction for the second half of the channels.

#pragma once

#include <array>
#include <cstdint>

#include "bench/log_text.h"

namespace ncclog::testing {

/// The ranks that `rank` is connected with in one channel; -1: none.
struct Neighbours {
  int previous = -1;
  int next = -1;
  int up = -1;
  std::array<int, 3> down = {-1, -1, -1};
};

/// The communicator that is being made.
struct MadeComm {
  int number = 0;  ///< How many were made before it.
  uint64_t commid() const { return 0x315c9ba5b2b85fd + static_cast<uint64_t>(number) * 0x9e3779b1; }
  uint64_t pointer(int rank) const {
    return 0x55d0a4001000 + (static_cast<uint64_t>(rank) << 20) +
           (static_cast<uint64_t>(number) << 12);
  }
};

Neighbours neighbours(const LogText& log, int rank, int channel);

/// Bus id of the GPU `device`, as in "busId 3000" and "GPU/0-3000".
inline int gpu_bus(int device) { return (2 * device + 1) << 12; }

/// The system as NCCL finds it, its paths, and the patterns of channels that fit into it.
void write_topology(LogText& log, int rank);
/// The rank's place in rings and trees.
void write_graphs(LogText& log, int rank);
/// The connections of one channel of the ring, or of the tree.
void write_ring_connections(LogText& log, int rank, int channel);
void write_tree_connections(LogText& log, int rank, int channel);

}  // namespace ncclog::testing
