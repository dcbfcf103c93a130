// Which interfaces or RDMA devices does a filter admit, as NCCL evaluates it?
//
//   eth0         every name that begins with "eth0"      =eth0      only eth0
//   ^docker,lo   every name but those that begin so      ^=mlx5_1   every name but mlx5_1
//   mlx5_0:1     port 1 of names that begin with mlx5_0
//
// NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_OOB_NET_IFNAME are such filters (misc/utils.cc). Case
// counts, and a blank after a comma belongs to the name.

#pragma once

#include <string_view>
#include <vector>

namespace ncclog {

/// One name of a filter. Views into the text.
struct FilterEntry {
  std::string_view name;
  int port = -1;  ///< -1: any.
};

struct NameFilter {
  bool excludes = false;  ///< "^…": what matches is left out.
  bool exact = false;     ///< "=…": whole names; else how names begin.
  std::vector<FilterEntry> entries;
};

/// Takes a filter apart. Every text is one; without entries it admits everything, as in NCCL.
NameFilter parse_name_filter(std::string_view text);

/// True if `entry` speaks of the name (not yet whether that admits it). `port` -1: unknown, fits
/// every port.
bool speaks_of(const NameFilter& filter, const FilterEntry& entry, std::string_view name,
               int port = -1);

/// True if NCCL uses a device of that name under the filter.
bool admits(const NameFilter& filter, std::string_view name, int port = -1);

}  // namespace ncclog
