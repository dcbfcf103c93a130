// What the name or the address of an interface gives away.
//
//   docker0:172.17.0.1<0>   virtual, and an address that every Docker host has for itself
//   ib0:10.1.2.3<0>         InfiniBand by the kernel's naming
//
// Names are conventions, so these answers are hints: facts join them with other evidence. What an
// address says by itself stands in log/address.h.

#pragma once

#include <string>
#include <string_view>

namespace ncclog {

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

}  // namespace ncclog
