// On what did it run? What the logs say of the GPUs, links and NICs under a measurement.
//
//   #  Rank  0 … on node-a device  0 [0x17] NVIDIA H100 80GB HBM3         8 x H100 a host
//   NET/IB : Using [0]mlx5_0:1/IB … [7]mlx5_7:1/IB                        8 NICs, rate unknown
//   Channel 00/0 : 7[7] -> 8[0] [send] via NET/IB/3                       … without GPUDirect RDMA
//   Pattern 4, crossNic 0, nChannels 16, bw 24.0/24.0, type NVL/PIX       NCCL reckons with 384
//
// NCCL's own statements lead, names of GPUs and host types follow, and what nothing tells stays
// unknown. A measurement is of one run: where the logs hold several, or settings of several folders,
// those that belong to others are left out.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/facts/fact.h"
#include "diagnose/perf/machine/ceilings.h"
#include "diagnose/perf/measured/measurement.h"
#include "model/job.h"

namespace ncclog {

/// What carries data between hosts.
enum class NetKind {
  Unknown,
  TCP,   ///< Sockets of the kernel.
  RDMA,  ///< IB, RoCE, EFA, Slingshot, GPUDirect-TCPX: NICs that plugins or verbs drive.
};

/// A setting, and a line that shows it.
struct SettingInForce {
  std::string value;
  Evidence line;
};

/// The slowest PCIe link of the GPUs, or of the NICs.
struct PcieLink {
  double bw = -1;               ///< GB/s as NCCL reckons, under load; -1: unknown.
  std::string narrow;           ///< "GPU 0000:41:00.0 has 8 of 16 lanes"; empty: it has its lanes.
  std::vector<Evidence> lines;  ///< Of lspci; empty: a topology tells.
};

struct Machine {
  // How many take part.
  int nranks = -1;
  int nhosts = -1;     ///< As NCCL counts its nodes.
  int hosts_seen = 0;  ///< That lines are of: there may be more.
  /// NCCL_HOSTID made NCCL count more nodes than there are hosts; `nhosts` is that of hosts.
  bool pseudo_hosts = false;

  // GPUs.
  const GpuModel* gpu = nullptr;  ///< nullptr: unknown.
  bool shares_gpu = false;
  bool has_nvswitch = false;
  double nvlink_peer = -1;   ///< Of the links that join two GPUs directly, GB/s; the least.
  std::optional<bool> nvls;  ///< As NCCL says; nullopt: it says nothing.
  bool nvls_tree = false;    ///< "Connected NVLS tree": several hosts and NVLink SHARP in each.
  bool mnnvl = false;        ///< NVLink joins all of its hosts.
  std::vector<Evidence> nvls_lines;

  // Paths in use.
  bool has_p2p = false;
  bool has_shm = false;         ///< Ranks of one host use host memory.
  bool has_net_within = false;  ///< Ranks of one host use the network.
  bool has_net = false;         ///< Some connection goes over the network.
  std::optional<bool> gdr;      ///< Connections over NICs have GPUDirect RDMA; nullopt: none seen.
  std::vector<Evidence> shm_lines, net_within_lines, gdr_lines;

  // Network.
  NetKind net = NetKind::Unknown;
  std::string net_name;  ///< "IB", "AWS Libfabric", "Socket".
  std::string provider;  ///< Of Libfabric: "efa", "cxi", "tcp"; empty: not told.
  std::vector<Evidence> net_lines;
  int nics = -1;               ///< That a host lists; of several hosts the fewest.
  double nic_gbits = -1;       ///< As lines say, of one; -1: unknown.
  bool rate_by_name = false;   ///< It follows from the name of the device: "hfi1_0".
  bool over_ethernet = false;  ///< RDMA over Ethernet or a bond of ports, which spread by flows.
  std::vector<Evidence> nic_lines;
  bool has_rdma_nics = false;  ///< Lines list RDMA devices.
  const HostType* type = nullptr;
  std::string type_by;  ///< What names it: "p5.48xlarge", "4 x A100, Slingshot".
  bool slingshot = false;

  // What NCCL reckons with.
  double searched_within = -1;   ///< By its search for rings, GB/s in all: inside a host,
  double searched_between = -1;  ///< between hosts,
  std::string searched_paths;    ///< over paths of these types: "NVL/PIX".
  Evidence searched_line;
  double modelled = -1;     ///< Best of NCCL's tuning table for the operation, as bus bandwidth.
  std::string modelled_by;  ///< "Ring, Simple".
  std::vector<Evidence> ll_lines;  ///< Large calls that NCCL ran by LL, and none that it did not.
  int channels = -1;               ///< For collectives.
  Evidence channels_line;
  PcieLink gpu_pcie;
  PcieLink nic_pcie;

  // Settings, by name. `told`: some line or file lists settings, so that others are likely not set.
  std::map<std::string, SettingInForce> settings;
  bool settings_told = false;

  /// Ranks of each host; -1: unknown, or they differ.
  int per_host() const {
    return nranks > 0 && nhosts > 0 && nranks % nhosts == 0 ? nranks / nhosts : -1;
  }

  /// The setting of that name, nullptr: not set as far as lines tell.
  const SettingInForce* setting(std::string_view name) const;

  /// It is set to a number other than 0.
  bool is_on(std::string_view name) const;
};

/// How many RDMA devices a value of NCCL_IB_HCA names one by one: 2 of "=mlx5_0:1,mlx5_3"; 0: it
/// excludes some, or names a family as "mlx5" does.
int devices_named_in(std::string_view hcas);

/// The machine under a measurement.
Machine machine_of(const Job& job, const Measurement& measurement);

/// The machine of all that the job's logs show, for a job that measured nothing.
Machine machine_of(const Job& job);

}  // namespace ncclog
