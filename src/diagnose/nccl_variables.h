// Which NCCL_* settings does NCCL read?
//
//   NCCL_IB_TIMEOUT        2.4.2 to now
//   NCCL_WORK_FIFO_DEPTH   2.13.4 to 2.21.5
//   NCCL_TIMEOUT           never existed
//
// The table was read from the sources of releases 2.4.2 to 2.30.7. It is sorted by name.

#pragma once

#include <span>
#include <string_view>

namespace ncclog {

/// A variable that libnccl reads in some release.
struct NcclVariable {
  std::string_view name;
  std::string_view first;  ///< First release that reads it; "2.4.2" may stand for earlier ones.
  std::string_view last;   ///< Last release that reads it; empty: still read.
};

/// All of them, sorted by name.
std::span<const NcclVariable> nccl_variables();

/// True if some release of NCCL reads `name`.
bool is_nccl_variable(std::string_view name);

/// True if `name` looks like NCCL's but belongs to a plugin, to PyTorch or to a build system.
bool is_others_variable(std::string_view name);

}  // namespace ncclog
