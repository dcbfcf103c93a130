// The instances that are no group of processes: pairs of ranks, GPUs, network interfaces.

#pragma once

#include <vector>

#include "diagnose/instance.h"

namespace ncclog {

/// Two processes between which a line announces a connection. Lines about connections number ranks
/// within a communicator that they do not name; a pair is left out where several communicators of
/// the process make it another process each.
std::vector<Instance> rank_pairs(const Job& job);

/// The GPUs of known hosts and bus ids, with the processes that use them.
std::vector<Instance> gpus(const Job& job);

/// The interfaces and HCA ports that a host lists, with all processes of the host.
std::vector<Instance> nics(const Job& job);

}  // namespace ncclog
