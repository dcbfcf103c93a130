// Which interfaces, addresses and RDMA devices does each process have, and can peers reach them?
//
//   Bootstrap : Using eth0:10.1.2.3<0>
//   NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB ib0:10.1.2.3<0>
//   docker0:172.17.0.1<0>   virtual, and an address that every Docker host has for itself

#pragma once

#include <span>

#include "diagnose/facts/fact.h"
#include "log/address.h"

namespace ncclog {

// What the name or the address of an interface gives away.
//
//   docker0:172.17.0.1<0>   virtual, and an address that every Docker host has for itself
//   ib0:10.1.2.3<0>         InfiniBand by the kernel's naming
//
// Names are conventions, so these answers are hints: facts join them with other evidence. What an
// address says by itself stands in log/address.h.

/// A bridge, tunnel or container interface: "docker0", "br-1f0c…", "veth2a", "flannel.1", "tun0".
bool is_virtual_interface(std::string_view name);

/// A bridge that has the same name on every host and leads nowhere outside of it: "docker0".
bool is_host_bridge(std::string_view name);

/// An interface of an InfiniBand port: "ib0", "ibs108", "ibp25s0".
bool is_infiniband_interface(std::string_view name);

bool is_ipv6(std::string_view ip);

/// The private bridge range that holds `ip`: "172.17.0.0/16" (Docker, of which hosts see the
/// beginning 172.17.0.x) or "192.168.122.0/24" (libvirt); in a container also Docker's further
/// networks up to "172.31.0.0/16", and Podman's. Empty if it is in none.
std::string bridge_range(std::string_view ip, bool in_container);

/// "10.1.2" for "10.1.2.3": the subnet, if its mask has 24 bits. Empty for anything but IPv4.
std::string_view subnet_of(std::string_view ip);

/// A host name that container runtimes make up: "c5ab17e0d2f4", 12 hexadecimal digits.
bool is_container_host(std::string_view host);

// Which interfaces and addresses each process has, as it says itself.
//
//   Bootstrap : Using eth0:10.1.2.3<0>
//   NET/Socket : Using [0]eth0:10.1.2.3<0> [1]virbr0:192.168.122.1<0>

/// An interface that one line of a process names.
struct HostAddress {
  int process = -1;        ///< Into Job::processes.
  std::string_view host;   ///< Of the process; empty: unknown.
  std::string_view name;   ///< "eth0"
  std::string_view ip;     ///< "10.1.2.3", "fe80::1"; without port and scope.
  bool bootstrap = false;  ///< The one that the bootstrap uses; false: a data interface.
  Record line;
};

/// The bootstrap's interface of each process: the first that its line lists.
std::span<const HostAddress> bootstrap_addresses(const Job& job);

/// Interfaces of socket networks (Socket, FastSocket), all that each line lists.
std::span<const HostAddress> socket_addresses(const Job& job);

/// Both, bootstrap first. Up to 2.5 there is only the socket network's line.
const std::vector<HostAddress>& all_addresses(const Job& job);

/// The addresses in words, one line of each host, at most four, and the processes of all; no
/// without any.
FactValue addresses_answer(std::span<const HostAddress> addresses);

// The RDMA devices (HCAs) that each process uses.
//
//   NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB ib0:10.1.2.3<0>

/// What one line lists.
struct HcaList {
  int process = -1;             ///< Into Job::processes.
  std::string_view host;        ///< Of the process; empty: unknown.
  std::vector<NetDevice> hcas;  ///< In NCCL's order.
  Record line;
};

/// All lists that name at least one device.
const std::vector<HcaList>& hca_lists(const Job& job);

}  // namespace ncclog
