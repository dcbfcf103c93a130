// Which interfaces and addresses each process has, as it says itself.
//
//   Bootstrap : Using eth0:10.1.2.3<0>
//   NET/Socket : Using [0]eth0:10.1.2.3<0> [1]virbr0:192.168.122.1<0>

#pragma once

#include <string>
#include <vector>

#include "diagnose/fact.h"

namespace ncclog {

/// An interface that one line of a process names.
struct HostAddress {
  int process = -1;        ///< Into Job::processes.
  std::string host;        ///< Of the process; empty: unknown.
  std::string name;        ///< "eth0"
  std::string ip;          ///< "10.1.2.3", "fe80::1"; without port and scope.
  bool bootstrap = false;  ///< The one that the bootstrap uses; false: a data interface.
  Evidence line;
};

/// The bootstrap's interface of each process: the first that its line lists.
const std::vector<HostAddress>& bootstrap_addresses(const Job& job);

/// Interfaces of socket networks (Socket, FastSocket), all that each line lists.
const std::vector<HostAddress>& socket_addresses(const Job& job);

/// Both, bootstrap first. Up to 2.5 there is only the socket network's line.
const std::vector<HostAddress>& all_addresses(const Job& job);

/// "eth0:172.17.0.3 on node-a, eth0:172.17.0.5 on node-b", one for each host, at most four.
std::string addresses_text(const std::vector<HostAddress>& addresses);

/// One line of each host, at most four, and the processes of all.
FactValue yes_about(std::string what, const std::vector<HostAddress>& addresses);

}  // namespace ncclog
