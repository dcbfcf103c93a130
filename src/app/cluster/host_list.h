// Names of hosts as people and Slurm write lists of them.
//
//   n[01-03,7],login1    →  n01, n02, n03, n7, login1
//
// Names go to other programs as arguments and into names of files, so nothing else is a name:
// letters, digits, ".", "_" and "-", which is not first.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

inline constexpr size_t kMostHosts = 65536;

/// Whether it is one that may be handed on.
bool is_host_name(std::string_view name);

/// The hosts of a list, in its order, each once. Throws Error (where: `flag`) for what is no list,
/// no name of a host, or more than kMostHosts.
std::vector<std::string> expand_host_list(std::string_view list, const std::string& flag);

/// The other way round: "n[01-03,07],login1".
std::string folded_hosts(std::span<const std::string> hosts);

/// The text with the host's name for "%h", as in NCCL_DEBUG_FILE; and the other way round.
std::string with_host(std::string_view pattern, std::string_view host);
std::string with_open_host(std::string_view text, std::string_view host);

/// The name by which Slurm starts tasks here, where it did; else this host's own. Never what is no
/// name of a host: then "localhost".
std::string own_host_name();

}  // namespace ncclog
