// Which host is "172.17.0.1<34599>", and can another host reach it?
//
//   10.1.2.3<41822>   fe80::1%ib0<41822>   node09.cluster<41822>   eth0:10.1.2.3<0>   ::1<28028>
//
// Addresses of a loopback, of a container bridge or of the link-local range look valid on the host
// that announces them and lead nowhere from any other.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ncclog {

/// A socket address as NCCL prints it. Views point into the text it was parsed from.
struct Address {
  std::string_view ip;     ///< "10.1.2.3", "fe80::1", or a host name where NCCL resolved it.
  std::string_view scope;  ///< Interface of an IPv6 link-local address: "ib0"; else empty.
  int port = -1;           ///< -1 if not printed or not a number.
};

/// Takes an address apart. Tolerates anything: text that is no address comes back as `ip`.
Address parse_address(std::string_view text);

/// The four bytes of "10.1.2.3", also behind "::ffff:", most significant first; nullopt if it is no
/// IPv4 address.
std::optional<uint32_t> parse_ipv4(std::string_view ip);

bool is_loopback(std::string_view ip);

/// fe80::/10 and 169.254.0.0/16: valid on one link only. InfiniBand subnets use them on purpose.
bool is_link_local(std::string_view ip);

/// An address of a bridge that Docker (172.17.0.0/16), Podman (10.88.0.0/16) or libvirt
/// (192.168.122.0/24) makes by default: every host has the same one.
bool is_docker_bridge(std::string_view ip);

/// An interface that such a bridge, or a container's end of it, usually is: "docker0", "virbr0",
/// "br-1f2e…", "veth…", "cni0".
bool is_bridge_interface(std::string_view name);

/// True if both are IPv4 addresses that agree in their first `prefix_length` bits (0 to 32).
bool same_subnet(std::string_view a, std::string_view b, int prefix_length);

}  // namespace ncclog
