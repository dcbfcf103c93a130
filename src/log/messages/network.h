// Which network carries the data between nodes, and which plugins were looked for.
//
//   NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB ib0:10.1.2.3<0>
//   Using network IB
//
// A missing plugin is normal: NCCL looks for one of every type and goes on with its own code.
// Device lists are taken apart by log/device_list.h.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The devices of a network (net_ib.cc, net_socket.cc, FastSocket).
struct NetDevices {
  std::string_view network;  ///< "IB", "Socket" or "FastSocket".
  /// "[0]mlx5_0:1/IB [1]mlx5_1:1/RoCE"; empty if there are none (2.24.3 and later).
  std::string_view devices;
  /// Interface of the out-of-band connections of IB, "ib0:10.1.2.3<0>"; else empty.
  std::string_view oob;

  static constexpr std::string_view kKind = "net_devices";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/{network:IB} : Using{devices} [RO]; OOB {oob...}",
       .example = "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB ib0:10.1.2.3<0>"},
      // Without relaxed ordering, and up to 2.11.4.
      {.text = "NET/{network:IB} : Using{devices} ; OOB {oob...}",
       .example = "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB ib0:10.1.2.3<0>"},
      // Lists longer than NCCL's buffer are cut, with the interface.
      {.text = "NET/{network:IB|Socket|FastSocket} : Using{devices...}",
       .example = "NET/Socket : Using [0]eth0:10.2.2.3<0> [1]eth1:10.3.2.3<0>",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("network", self.network);
    visit("devices", self.devices);
    visit("oob", self.oob);
  }
};

/// No RDMA device is usable (net_ib.cc): none exists, the container hides it, or NCCL_IB_HCA
/// excludes it.
struct NoRdmaDevice {
  static constexpr std::string_view kKind = "no_rdma_device";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : No device found.", .example = "NET/IB : No device found."},
  };
  static void each_field(auto&, auto&&) {}
};

/// The network that carries the data (init.cc, 2.6.4 and later).
struct NetworkSelected {
  /// "IB", "Socket" or a plugin's name, which may hold blanks: "AWS Libfabric".
  std::string_view network;

  static constexpr std::string_view kKind = "network_selected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Using network {network...}", .example = "Using network AWS Libfabric"},
  };
  static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
};

/// A network is usable in this process (net.cc, 2.27.3 and later).
struct NetInitialized {
  std::string_view network;

  static constexpr std::string_view kKind = "net_initialized";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Initialized NET plugin {network...}", .example = "Initialized NET plugin IB"},
  };
  static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
};

/// A communicator got its network (net.cc, 2.27.3 and later).
struct NetAssigned {
  std::string_view network;

  static constexpr std::string_view kKind = "net_assigned";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Assigned NET plugin {network} to comm",
       .example = "Assigned NET plugin AWS Libfabric to comm"},
  };
  static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
};

/// A network found nothing usable (net.cc, 2.28.3 and later); the next one is tried.
struct NetInitFailed {
  std::string_view network;

  static constexpr std::string_view kKind = "net_init_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Failed to initialize NET plugin {network...}",
       .example = "Failed to initialize NET plugin IB"},
  };
  static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
};

/// No network is usable, or none has the wanted name (net.cc, 2.27.3 and later).
struct NetAllFailed {
  static constexpr std::string_view kKind = "net_all_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "No network could be set up, or none has the wanted name. The plugin lines before say what "
      "each one tried; check NCCL_NET and NCCL_NET_PLUGIN."};
  static constexpr Wording kWordings[] = {
      {.text = "Failed to initialize any NET plugin",
       .example = "Failed to initialize any NET plugin",
       .quotable = true},
  };
  static void each_field(auto&, auto&&) {}
};

/// NCCL_NET or the application's netName matches no network (net.cc, 2.10.3 to 2.26.6).
struct NetworkNotFound {
  std::string_view network;

  static constexpr std::string_view kKind = "network_not_found";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NCCL_NET or the program's configuration names a network that is not there. Check the "
      "spelling, and that its plugin loads and finds devices."};
  static constexpr Wording kWordings[] = {
      {.text = "Error: network {network} not found.",
       .example = "Error: network AWS Libfabric not found.",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("network", self.network); }
};

/// Threads and sockets of the socket network (net_socket.cc).
struct NetSocketThreads {
  int threads = -1;
  int sockets = -1;  ///< Per thread.

  static constexpr std::string_view kKind = "net_socket_threads";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/Socket: Using {threads} threads and {sockets} sockets per thread",
       .example = "NET/Socket: Using 2 threads and 8 sockets per thread"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("threads", self.threads);
    visit("sockets", self.sockets);
  }
};

/// The interface's speed cannot be read, so the search for paths assumes 10 Gbit/s
/// (net_socket.cc).
struct NetSpeedUnknown {
  std::string_view interface;

  static constexpr std::string_view kKind = "net_speed_unknown";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "Could not get speed from /sys/class/net/{interface}/speed. Defaulting to 10 Gbps.",
       .example = "Could not get speed from /sys/class/net/eth0/speed. Defaulting to 10 Gbps."},
      {.text = "Could not get speed for interface {interface}. Defaulting to 10 Gbps.",
       .example = "Could not get speed for interface eth0. Defaulting to 10 Gbps."},
      {.text = "Could not get speed from {interface}. Defaulting to 10 Gbps.",
       .example =
           "Could not get speed from /sys/devices/virtual/net/team0/speed. Defaulting to 10 Gbps.",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("interface", self.interface); }
};

/// The RDMA user library is not installed (ibvwrap.cc WARN up to 2.10, ibvsymbols.cc INFO
/// later), so InfiniBand and RoCE are out.
struct RdmaLibraryMissing {
  std::string_view library;  ///< "libibverbs.so[.1]".

  static constexpr std::string_view kKind = "rdma_library_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The RDMA library is not installed, so InfiniBand and RoCE are out and NCCL takes another "
      "network. Install rdma-core if the host has such NICs."};
  static constexpr Wording kWordings[] = {
      {.text = "Failed to open {library:libibverbs.so[.1]|libmlx5.so[.1]}",
       .example = "Failed to open libibverbs.so[.1]"},
  };
  static void each_field(auto& self, auto&& visit) { visit("library", self.library); }
};

/// Whether a NIC reads and writes GPU memory (net_ib.cc, graph/topo.cc, graph/paths.cc).
/// Without device name it is about one pair of GPU and NIC; these lines exist in TRACE builds
/// only from 2.30.3 on. The meaning of gpu and of the distances changed between releases.
struct GpuDirect {
  std::string_view state;    ///< "Enabled" or "Disabled".
  std::string_view network;  ///< "IB"; empty from 2.6 on for pairs.
  std::string_view hca;      ///< Index; hexadecimal id since 2.21.5 for pairs.
  std::string_view device;   ///< "mlx5_0"; empty for pairs.
  /// Bus id, device or rank, by release; empty if the line is about the NIC alone.
  std::string_view gpu;
  std::string_view distance;  ///< "4 <= 5", path types of the release.
  std::string_view mode;      ///< "Default" or "PCI", from 2.26.2 on; else empty.
  std::string_view pxn;       ///< "using PXN via GPU/0-724992": through another GPU; else empty.
  int read = -1;              ///< 1 if sends may read GPU memory; -1 if not printed.

  static constexpr std::string_view kKind = "gpu_direct";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/{network:IB|Socket} : GPU Direct RDMA {state:Enabled|Disabled} for HCA "
               "{hca:int} '{device}'",
       .example = "NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'"},
      {.text = "NET/{network:IB|Socket} : GPU Direct RDMA {state:Enabled|Disabled} for HCA "
               "{hca:int} '{device}' (no module)",
       .example = "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)"},
      {.text = "NET/{network:IB|Socket} : GPU Direct RDMA {state:Enabled|Disabled} for GPU "
               "{gpu:word} / HCA {hca:word} '{device}' (no module or not supported by GPU)",
       .example = "NET/IB : GPU Direct RDMA Disabled for GPU 0[0] / HCA 1 'mlx5_1' (no module or "
                  "not supported by GPU)"},
      {.text = "NET/{network} : GPU Direct RDMA {state:Enabled|Disabled} for GPU "
               "{gpu:word} / HCA {hca:word} (distance {distance}), read {read}",
       .example =
           "NET/IB : GPU Direct RDMA Enabled for GPU a1000 / HCA 1 (distance 2 < 3), read 1"},
      {.text = "NET/{network} : GPU Direct RDMA {state:Enabled|Disabled} for GPU "
               "{gpu:word} / HCA {hca:word} (distance {distance})",
       .example = "NET/IB : GPU Direct RDMA Disabled for GPU a1000 / HCA 1 (distance 4 >= 3)"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for GPU {gpu:word} / HCA {hca:word} "
               "(distance {distance}), read {read} mode {mode:word}",
       .example =
           "GPU Direct RDMA Enabled for GPU 3 / HCA 1 (distance 4 <= 5), read 0 mode Default"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for GPU {gpu:word} / HCA {hca:word} "
               "(distance {distance}), read {read}",
       .example = "GPU Direct RDMA Enabled for GPU a1000 / HCA 1 (distance 4 <= 4), read 1"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for GPU {gpu:word} / HCA {hca:word} "
               "(distance {distance})",
       .example = "GPU Direct RDMA Disabled for GPU a1000 / HCA 1 (distance 7 > 4)"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for {gpu:word} (rank {:int}) - {hca:word} "
               "(distance {distance}, read {read}, mode {mode:word})",
       .example = "GPU Direct RDMA Enabled for GPU/0-659456 (rank 3) - NET/0-1 (distance 4 <= 5, "
                  "read 0, mode Default)"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for {gpu:word} (rank {:int}) - {hca:word} "
               "( {pxn}, distance {distance}, read {read}, mode {mode:word})",
       .example = "GPU Direct RDMA Enabled for GPU/0-659456 (rank 3) - NET/0-1 ( using PXN via "
                  "GPU/0-724992, distance 4 <= 5, read 0, mode Default)"},
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for {gpu:word} (rank {:int}) - {hca:word} "
               "(distance {distance})",
       .example = "GPU Direct RDMA Disabled for GPU/0-659456 (rank 3) - NET/0-1 (distance 8 > 5)",
       .general = true},
      // Networks of plugins.
      {.text = "NET/{network} : GPU Direct RDMA {state:word} for HCA {hca:int} '{device}'",
       .example = "NET/AWS Libfabric : GPU Direct RDMA Enabled for HCA 0 'rdmap16s27'",
       .general = true},
      // Cut lines of 2.29.
      {.text = "GPU Direct RDMA {state:Enabled|Disabled} for {gpu...}",
       .example = "GPU Direct RDMA Enabled for GPU/0-659456",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("network", self.network);
    visit("hca", self.hca);
    visit("device", self.device);
    visit("gpu", self.gpu);
    visit("distance", self.distance);
    visit("read", self.read);
    visit("mode", self.mode);
    visit("pxn", self.pxn);
  }
};

/// The driver can hand GPU memory to a NIC as DMA-BUF (init.cc, 2.13.4 and later).
struct DmabufAvailable {
  int dev = -1;  ///< CUDA device.

  static constexpr std::string_view kKind = "dmabuf_available";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "DMA-BUF is available on GPU device {dev}",
       .example = "DMA-BUF is available on GPU device 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("dev", self.dev); }
};

/// One RDMA port (net_ib/init.cc, 2.27.3 and later).
struct IbDevice {
  int index = -1;
  std::string_view name;
  int port = -1;
  std::string_view link;      ///< "IB" or "RoCE".
  std::string_view provider;  ///< "Mlx5", "None", …
  int speed = -1;             ///< Mbit/s.
  int adaptive_routing = -1;

  static constexpr std::string_view kKind = "ib_device";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB: [{index}] {name:word}:{:word}:{port}/{link:word} provider={provider:word} "
               "speed={speed} context={:hex} pciPath={} ar={adaptive_routing}",
       .example = "NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 context=0x55d0c0de "
                  "pciPath=/sys/devices/pci0000:17 ar=1"},
      {.text = "NET/IB: [{index}] {name:word}:{:word}:{port}/{link:word} provider={provider:word} "
               "speed={speed} context={:hex} pciPath={} ar={adaptive_routing} oooRqSize={:int}",
       .example = "NET/IB: [0] mlx5_0:uverbs0:1/IB provider=Mlx5 speed=400000 context=0x55d0c0de "
                  "pciPath=/sys/devices/pci0000:17 ar=1 oooRqSize=0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("index", self.index);
    visit("name", self.name);
    visit("port", self.port);
    visit("link", self.link);
    visit("provider", self.provider);
    visit("speed", self.speed);
    visit("adaptive_routing", self.adaptive_routing);
  }
};

/// An RDMA device exists but does not answer (net_ib.cc); it is skipped.
struct IbDeviceOpenFailed {
  std::string_view device;  ///< Name; the port number for a port.
  std::string_view call;    ///< "open device", "query device", "query port_num", "query port".

  static constexpr std::string_view kKind = "ib_device_open_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "An RDMA device exists but does not answer, so it is left out. Check /dev/infiniband in the "
      "container, its permissions, driver and firmware."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : Unable to {call:open device|query device|query port_num|query port} "
               "{device...}",
       .example = "NET/IB : Unable to open device mlx5_3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("call", self.call);
  }
};

using NetworkMessages =
    Kinds<NetDevices, NoRdmaDevice, NetworkSelected, NetInitialized, NetAssigned, NetInitFailed,
          NetAllFailed, NetworkNotFound, NetSocketThreads, NetSpeedUnknown, RdmaLibraryMissing,
          GpuDirect, DmabufAvailable, IbDevice, IbDeviceOpenFailed>;

}  // namespace ncclog
