// What a host looks like where jobs start: its shared memory, limits, interfaces, RDMA ports, GPUs,
// libraries and settings.
//
//   /dev/shm        64 MiB, 0 free        eth0  up, 10000 Mbit/s, 10.1.2.3/24
//   memlock 65536   Max locked memory     mlx5_0 port 1: InfiniBand, ACTIVE, 400 Gb/s
//
// Read by `ncclog doctor` (host/read_host.h) on the host itself, below another root, or from a
// record. Numbers that could not be read are -1, texts empty, lists nullopt. Any bytes may be in
// the texts.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ncclog {

/// A file of NCCL's below /dev/shm: "nccl-q3Xz9b".
struct ShmSegment {
  std::string name;
  int64_t bytes = -1;
  /// Some process has it mapped; false: none has, and all could be asked. nullopt: not known.
  std::optional<bool> is_held;
};

/// The mount at /dev/shm.
struct SharedMemory {
  int64_t size = -1;       ///< Bytes.
  int64_t available = -1;  ///< Bytes that this user can still take.
  std::string options;     ///< "rw,nosuid,nodev,size=65536k"; empty: it is no mount of its own.
  std::string mode;        ///< "1777"
  std::string refused;     ///< Why this user may not create files there; empty: it may, or unknown.
  bool is_asked = false;   ///< Whether it may is known.
  std::vector<ShmSegment> segments;
};

/// A network interface, in the order in which the kernel lists addresses, as NCCL sees them.
struct HostInterface {
  std::string name;
  bool is_up = false;                  ///< Has a link; what the kernel cannot say counts as up.
  int64_t speed = -1;                  ///< Mbit/s
  int mtu = -1;                        ///< Bytes.
  std::string kind;                    ///< "physical", "bond", "bridge", "vlan", "virtual"
  std::vector<std::string> below;      ///< Members of a bond.
  std::vector<std::string> addresses;  ///< "10.1.2.3/24", "fe80::1/64", in the kernel's order.
};

/// An entry of a port's GID table that is not all zero.
struct RdmaGid {
  int index = -1;
  std::string gid;   ///< "0000:0000:0000:0000:0000:ffff:0a01:0203"
  std::string type;  ///< "IB/RoCE v1", "RoCE v2"
};

struct RdmaPort {
  std::string device;  ///< "mlx5_0"
  int port = 1;
  std::string link;   ///< "IB" or "RoCE"; empty: unknown.
  std::string state;  ///< "ACTIVE", "DOWN", "INIT"
  double rate = -1;   ///< Gb/s
  std::string board;  ///< Same board, same model of adapter.
  std::vector<RdmaGid> gids;
};

/// A GPU or network adapter on the PCI bus.
struct HostPciDevice {
  std::string address;  ///< "0000:17:00.0"
  bool is_gpu = false;
  int width = -1;
  int max_width = -1;
};

/// A PCI bridge above a GPU or an adapter.
struct HostBridge {
  std::string address;
  std::optional<bool> acs;  ///< It sends traffic between devices up to the root complex.
};

/// A GPU, as NVML or, without it, the driver's files show it.
struct HostGpu {
  std::string bus_id;  ///< "0000:1b:00.0"
  std::string name;    ///< "NVIDIA H100 80GB HBM3"
  bool mig = false;
  int64_t memory_errors = -1;  ///< Uncorrectable, since the driver was loaded.
  int links = -1;              ///< NVLinks that are active.
  int all_links = -1;
  std::string fabric;  ///< "completed", "in progress", "not started"; empty: there is none.
};

/// Two GPUs between which NVML says that P2P does not work.
struct RefusedPeers {
  int first = 0;
  int second = 0;
  std::string why;  ///< "CNS", as nvidia-smi topo -p2p prints it.
};

/// A library that NCCL, or a program with NCCL, would load.
struct HostLibrary {
  std::string name;  ///< As asked for: "libnccl-net.so".
  std::string path;  ///< Empty: not found.
  std::string version;
  std::vector<std::string> missing;  ///< What it needs and nobody has: "libfabric.so.1".
};

/// A variable that NCCL gets on this host.
struct HostSetting {
  std::string name;
  std::string value;
  std::string file;  ///< That sets it: "/etc/nccl.conf"; empty: the environment.
};

struct HostReport {
  static constexpr int64_t kUnlimited = INT64_MAX;

  std::string host;       ///< Its name; empty: unknown.
  std::string source;     ///< Where the report comes from: a path, or "this host".
  std::string record;     ///< All that was read, as host/host_tree.h writes it.
  std::string kernel;     ///< "6.1.0-18-amd64"
  std::string container;  ///< What shows that it is one: "/.dockerenv"; empty: nothing does.
  std::string machine;    ///< As its firmware calls it: "Google Compute Engine".
  SharedMemory shm;
  int64_t memory = -1;        ///< Bytes of the host.
  int64_t memory_limit = -1;  ///< Bytes of the cgroup; kUnlimited: none, like all limits.
  int64_t pids_limit = -1;    ///< Of the cgroup.
  // Soft limits of the process that looked: ranks that another daemon starts may have others.
  int64_t memlock = -1;  ///< Bytes.
  int64_t open_files = -1;
  int64_t processes = -1;
  std::string numa_call;  ///< "ok", or why get_mempolicy failed; empty: not asked.
  std::string seccomp;    ///< "0" none, "2" a filter.
  std::vector<std::pair<int, int64_t>> numa_nodes;  ///< Number and bytes.
  std::optional<std::vector<HostInterface>> interfaces;
  std::optional<std::vector<RdmaPort>> rdma;  ///< Empty: the kernel has no RDMA device.
  std::optional<bool> rdma_files;             ///< /dev/infiniband holds uverbs files.
  std::optional<bool> peermem;                ///< A module lets adapters reach GPU memory.
  std::optional<bool> iommu;                  ///< It translates addresses of GPUs.
  std::vector<HostPciDevice> devices;
  std::optional<std::vector<HostBridge>> bridges;
  std::string driver;  ///< NVIDIA's, "550.54.15"; empty: none.
  std::optional<std::vector<HostGpu>> gpus;
  std::vector<RefusedPeers> refused_peers;
  std::vector<std::string> xids;  ///< Lines of the kernel's log that report an Xid.
  std::vector<HostLibrary> libraries;
  std::vector<HostLibrary> nccls;  ///< Copies of NCCL.
  std::vector<HostSetting> settings;
  std::vector<std::pair<std::string, std::string>> unread;  ///< What could not be read, and why.
};

}  // namespace ncclog
