// Can NCCL make anything of a value, and what will it make of it?
//
//   NCCL_IB_DISABLE=true      reads as 0: InfiniBand stays on
//   NCCL_BUFFSIZE=4M          reads as 4 bytes
//   NCCL_P2P_LEVEL=nvl        ignored: only NVL in upper case counts
//   NCCL_ALGO=Ring,Treee      the initialisation fails

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/settings/nccl_variables.h"

namespace ncclog {

/// What is wrong with a value.
struct ValueFault {
  bool fails = false;  ///< NCCL ends with an error; else it goes on with something else.
  std::string what;    ///< A clause after "NAME=value": "is not a number, …".
  std::string hint;    ///< What to write instead; empty: nothing can be said.
};

/// The fault of a value; nullopt if it has none that is certain. An empty value counts as not set.
std::optional<ValueFault> judge_value(const NcclVariable& variable, std::string_view value);

/// The number that NCCL reads from a text: strtoll with base 0, so 0 from "true" and 4 from "4M".
/// 18446744073709551615, as releases up to 2.12.7 print -1, is -1.
int64_t read_number(std::string_view value);

/// The names that a list of algorithms or protocols admits for some function, in upper case:
/// of "^NVLS;allreduce:tree" all of `variable` but NVLS, and TREE.
std::vector<std::string> admitted_choices(const NcclVariable& variable, std::string_view value);

std::string upper_case(std::string_view text);

// Which interfaces or RDMA devices does a filter admit, as NCCL evaluates it?
//
//   eth0         every name that begins with "eth0"      =eth0      only eth0
//   ^docker,lo   every name but those that begin so      ^=mlx5_1   every name but mlx5_1
//   mlx5_0:1     port 1 of names that begin with mlx5_0
//
// NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_OOB_NET_IFNAME are such filters (misc/utils.cc). Case
// counts, and a blank after a comma belongs to the name.

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
