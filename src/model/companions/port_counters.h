// What did counters of ports, links and slots stand at? As a listing or a copied file shows them.
//
//   /sys/class/infiniband/mlx5_1/ports/1/hw_counters/local_ack_timeout_err:91316
//   link mlx5_0/1 rx_write_requests 81234567 out_of_sequence 5123 …        rdma statistic
//   GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)                             nvidia-smi nvlink -e
//            Link 3: Replay Errors: 17
//
// Counters are totals since the driver was loaded. One reading says little; two of the same counter
// tell what happened between them.

#pragma once

#include <cstdint>
#include <string>

#include "base/line.h"

namespace ncclog {

/// One counter of one port at one moment.
struct PortCounter {
  std::string source;  ///< Path of the file; of a tree in /sys, of the folder with the devices.
  std::string host;    ///< As a line before it names it; empty: none does.
  std::string device;  ///< "mlx5_1", "ens1f0", "lid 7", "GPU 0", "0000:17:00.0"; empty: not told.
  int port = -1;       ///< Of NVLink the link; -1: not told.
  std::string name;    ///< As printed, without dots and colons: "PortRcvErrors".
  int64_t value = 0;   ///< Never negative.
  std::string stamp;   ///< The last line with a time before it, cut; empty: there is none.
  SourceRef where;
  std::string text;  ///< The line, cut.

  bool operator==(const PortCounter&) const = default;
};

}  // namespace ncclog
