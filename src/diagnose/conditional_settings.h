// Which settings does NCCL read only where there is something to use them for?
//
//   NCCL_IB_TIMEOUT   is read where there are RDMA devices   → not printed elsewhere
//   NCCL_P2P_DISABLE  is read by every rank

#pragma once

#include <string_view>

namespace ncclog {

/// True if it proves nothing that NCCL does not print that variable.
bool is_read_where_used(std::string_view name);

}  // namespace ncclog
