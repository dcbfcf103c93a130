// Which devices does a network or the bootstrap name?
//
//   [0]mlx5_0:1/IB [1]={[0] mlx5_1:1/IB,[1] mlx5_2:1/IB}    NET/IB, the second is a fused NIC
//   [0]mlx5_0:1:0:1/RoCE                                     with rail and plane (2.30.7)
//   [0]eth0:10.2.2.3<0> [1]ib0:fe80::1%ib0<0>                NET/Socket
//   ib0:10.1.2.3<0>                                          bootstrap, out-of-band interface
//
// NCCL cuts long lists at its buffer's size, so the last entry may be incomplete ("mlx5_7:1/I").

#pragma once

#include <string_view>
#include <vector>

namespace ncclog {

/// One entry of a device list. Views point into the list.
struct NetDevice {
  int index = -1;            ///< NCCL's number of the device; -1 where the list has none.
  std::string_view name;     ///< "mlx5_0", "eth0".
  int port = -1;             ///< Port of an RDMA device; -1 for interfaces.
  std::string_view link;     ///< "IB" or "RoCE"; empty for interfaces and where it was cut off.
  std::string_view address;  ///< "10.2.2.3", "fe80::1"; empty for RDMA devices.
  int socket_port = -1;      ///< Port in "<…>", normally 0; -1 for RDMA devices.

  bool operator==(const NetDevice&) const = default;
};

/// The devices of `devices` in their order; the members of a fused NIC each with the index of the
/// fused one. Tolerates any text: what has no name is left out.
std::vector<NetDevice> parse_device_list(std::string_view devices);

}  // namespace ncclog
