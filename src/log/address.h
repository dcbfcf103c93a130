// Addresses, bus ids and lists of devices, as NCCL prints them.
//
//   10.1.2.3<41822>   fe80::1%ib0<41822>   node09.cluster<41822>   eth0:10.1.2.3<0>   ::1<28028>
//   busId 1b000   PCI:0000:1b:00   0000:1b:00.0
//   [0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB}
//
// Nothing here fails: text that is no address or no list comes back as far as it can be read.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ncclog {

// Which host is "172.17.0.1<34599>", and can another host reach it?
//
//   10.1.2.3<41822>   fe80::1%ib0<41822>   node09.cluster<41822>   eth0:10.1.2.3<0>   ::1<28028>
//
// Addresses of a loopback, of a container bridge or of the link-local range look valid on the host
// that announces them and lead nowhere from any other.

/// "10.1.2.3", "fe80::1", or a host name where NCCL resolved it: a socket address as NCCL prints it
/// without its port and, of an IPv6 link-local one, its interface. Tolerates anything: text that is
/// no address comes back. A view into `text`.
std::string_view ip_of(std::string_view text);

/// The four bytes of "10.1.2.3", also behind "::ffff:", most significant first; nullopt if it is no
/// IPv4 address.
std::optional<uint32_t> parse_ipv4(std::string_view ip);

bool is_loopback(std::string_view ip);

/// fe80::/10 and 169.254.0.0/16: valid on one link only. InfiniBand subnets use them on purpose.
bool is_link_local(std::string_view ip);

// One name for a PCI address that NCCL, the kernel and nccl-tests each write in their own way.
//
//   busId 1b000   PCI:0000:1b:00   0000:1b:00.0   → 0x1b000
//
// NCCL prints domain, bus, device and function as one hexadecimal number without leading zeros
// (utils.cc, every release).

/// The address as NCCL counts it. A missing function is 0; nullopt for anything else, and for
/// nccl-tests' "0x1b", which is a bus only.
std::optional<uint64_t> bus_number(std::string_view printed);

// Which devices does a network or the bootstrap name?
//
//   [0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB}    NET/IB, the second is a fused NIC
//   [0]mlx5_0:1:0:1/RoCE                                     with rail and plane (2.30.7)
//   [0]eth0:10.2.2.3<0> [1]ib0:fe80::1%ib0<0>                NET/Socket
//   ib0:10.1.2.3<0>                                          bootstrap, out-of-band interface
//
// NCCL cuts long lists at its buffer's size, so the last entry may be incomplete ("mlx5_7:1/I").

/// One entry of a device list. Views point into the list.
struct NetDevice {
  int index = -1;            ///< NCCL's number of the device; -1 where the list has none.
  std::string_view name;     ///< "mlx5_0", "eth0".
  int port = -1;             ///< Port of an RDMA device; -1 for interfaces.
  std::string_view link;     ///< "IB" or "RoCE"; empty for interfaces and where it was cut off.
  std::string_view address;  ///< "10.2.2.3", "fe80::1"; empty for RDMA devices.
};

/// The devices of `devices` in their order; the members of a fused NIC each with the index of the
/// fused one. Tolerates any text: what has no name is left out.
std::vector<NetDevice> parse_device_list(std::string_view devices);

}  // namespace ncclog
