// The RDMA devices (HCAs) that each process uses.
//
//   NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB ib0:10.1.2.3<0>

#pragma once

#include <string>
#include <vector>

#include "diagnose/fact.h"

namespace ncclog {

struct Hca {
  std::string name;  ///< "mlx5_0"
  std::string link;  ///< "IB", "RoCE"; empty where a list is cut.
};

/// What one line lists.
struct HcaList {
  int process = -1;       ///< Into Job::processes.
  std::string host;       ///< Of the process; empty: unknown.
  std::vector<Hca> hcas;  ///< In NCCL's order.
  Evidence line;
};

/// All lists that name at least one device.
const std::vector<HcaList>& hca_lists(const Job& job);

/// How many devices of the list have that link layer.
int count_link(const HcaList& list, std::string_view link);

}  // namespace ncclog
