// Output of commands that people keep beside their logs.
//
//   shm              64M   64M     0 100% /dev/shm
//   GPU0    X       CNS     CNS     CNS
//   mlx5_0 port 1 ==> ib0 (Up)
//
// Nothing says which host printed it, unless a file name or a prompt does.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"
#include "log/pasted_lines.h"

namespace ncclog {

/// A row of df about /dev/shm.
struct ShmUsage {
  std::string_view size;  ///< As printed: "64M", or 1024-byte blocks.
  std::string_view used;
  std::string_view available;
  int percent = -1;
  std::string_view mount;

  static constexpr std::string_view kKind = "shm_usage";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{} {size} {used} {available} {percent}% {mount}",
       .example = "shm              64M   64M     0 100% /dev/shm",
       .recognise = recognise_shm_usage},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("used", self.used);
    visit("available", self.available);
    visit("percent", self.percent);
    visit("mount", self.mount);
  }
};

/// How much memory a process may lock; RDMA needs "unlimited".
struct MemlockLimit {
  std::string_view limit;  ///< A number or "unlimited".
  std::string_view unit;   ///< "kbytes", "bytes"; empty where not printed: kbytes.

  static constexpr std::string_view kKind = "memlock_limit";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{} ulimit -l' {limit}",
       .example = "$ mpirun -np 1 bash -c 'ulimit -l' 8192",
       .recognise = recognise_memlock_answer},
      {.text = "{:max|Max} locked memory ({unit}, -l) {limit}",
       .example = "max locked memory           (kbytes, -l) 64",
       .recognise = recognise_memlock_row},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("limit", self.limit);
    visit("unit", self.unit);
  }
};

/// A row of "nvidia-smi topo -p2p": whether this GPU reaches the others directly.
struct P2pMatrixRow {
  int gpu = -1;
  std::string_view cells;  ///< In the order of the GPUs: "X\tCNS\tCNS".

  static constexpr std::string_view kKind = "p2p_matrix_row";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "GPU{gpu} {cells}",
       .example = "GPU0\tX\tCNS\tCNS\tCNS",
       .recognise = recognise_p2p_row},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("gpu", self.gpu);
    visit("cells", self.cells);
  }
};

/// A row of "nvidia-smi topo -m": how this GPU is wired to the others and to the NICs.
struct TopoMatrixRow {
  int gpu = -1;
  std::string_view cells;  ///< "X\tNV18\tPIX".

  static constexpr std::string_view kKind = "topo_matrix_row";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "GPU{gpu} {cells}",
       .example = "GPU0\t X \tNV18\tPIX\tSYS\t0-15",
       .recognise = recognise_topo_row},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("gpu", self.gpu);
    visit("cells", self.cells);
  }
};

/// A row of ibdev2netdev.
struct IbPort {
  std::string_view device;
  int port = -1;
  std::string_view interface;
  std::string_view state;  ///< "Up" or "Down"

  static constexpr std::string_view kKind = "ib_port";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{device:word} port {port} ==> {interface:word} ({state:Up|Down})",
       .example = "mlx5_0 port 1 ==> ib0 (Up)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
    visit("interface", self.interface);
    visit("state", self.state);
  }
};

/// A row of show_gids.
struct GidRow {
  std::string_view device;
  int port = -1;
  int index = -1;
  std::string_view gid;
  std::string_view address;  ///< IPv4; empty for link-local GIDs.
  std::string_view version;  ///< "v1" or "v2" of RoCE
  std::string_view interface;

  static constexpr std::string_view kKind = "gid_row";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{device} {port} {index} {gid} {address} {version} {interface}",
       .example =
           "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a78:021f\t10.120.2.31  \tv2\tens2f0",
       .recognise = recognise_gid_row},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("device", self.device);
    visit("port", self.port);
    visit("index", self.index);
    visit("gid", self.gid);
    visit("address", self.address);
    visit("version", self.version);
    visit("interface", self.interface);
  }
};

/// A device of ibstat or ibv_devinfo; its state follows.
struct IbstatCa {
  std::string_view device;

  static constexpr std::string_view kKind = "ibstat_ca";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "CA '{device}'", .example = "CA 'mlx5_0'"},
      {.text = "hca_id:\t{device:word}", .example = "hca_id:\tmlx5_0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("device", self.device); }
};

/// State of that device's port.
struct IbstatState {
  std::string_view state;  ///< "Active", "PORT_DOWN"

  static constexpr std::string_view kKind = "ibstat_state";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "State: {state:Active|Down|Initializing|Armed|Init}", .example = "State: Active"},
      {.text = "state:\t\t\t{state:PORT_ACTIVE|PORT_DOWN|PORT_INIT|PORT_ARMED} ({:int})",
       .example = "state:\t\t\tPORT_ACTIVE (4)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("state", self.state); }
};

/// Physical state of that port.
struct IbstatPhysical {
  std::string_view state;  ///< "LinkUp", "Disabled", "Polling"

  static constexpr std::string_view kKind = "ibstat_physical";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Physical state: {state:word}", .example = "Physical state: LinkUp"},
  };
  static void each_field(auto& self, auto&& visit) { visit("state", self.state); }
};

/// Rate of that port.
struct IbstatRate {
  int rate = -1;  ///< Gbit/s

  static constexpr std::string_view kKind = "ibstat_rate";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Rate: {rate}", .example = "Rate: 200"},
  };
  static void each_field(auto& self, auto&& visit) { visit("rate", self.rate); }
};

/// What the port speaks: InfiniBand or, as RoCE, Ethernet.
struct IbstatLinkLayer {
  std::string_view link;

  static constexpr std::string_view kKind = "ibstat_link_layer";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Link layer: {link:InfiniBand|Ethernet}", .example = "Link layer: InfiniBand"},
      {.text = "link_layer:\t\t{link:InfiniBand|Ethernet}", .example = "link_layer:\t\tEthernet"},
  };
  static void each_field(auto& self, auto&& visit) { visit("link", self.link); }
};

/// A prompt with the command that somebody typed.
struct ShellCommand {
  std::string_view command;

  static constexpr std::string_view kKind = "shell_command";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{}$ {command}",
       .example = "root@node-a:~# nvidia-smi topo -p2p r",
       .recognise = recognise_shell_command},
  };
  static void each_field(auto& self, auto&& visit) { visit("command", self.command); }
};

/// systemctl status: of which unit; its state follows.
struct ServiceUnit {
  std::string_view unit;  ///< "nvidia-fabricmanager.service"

  static constexpr std::string_view kKind = "service_unit";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "● {unit:word} - {...}",
       .example = "● nvidia-fabricmanager.service - NVIDIA fabric manager service"},
      {.text = "× {unit:word} - {...}",
       .example = "× nvidia-fabricmanager.service - NVIDIA fabric manager service"},
  };
  static void each_field(auto& self, auto&& visit) { visit("unit", self.unit); }
};

/// State of a service, beside NCCL logs nearly always the Fabric Manager.
///
/// The service_unit line before it says which.
struct FabricManagerState {
  std::string_view state;  ///< "active (running)", "failed (Result: exit-code)"
  std::string_view since;

  static constexpr std::string_view kKind = "fabric_manager_state";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Active: {state} since {since...}",
       .example = "Active: active (running) since Mon 2026-01-05 09:14:02; 3h 2min ago"},
      {.text = "Active: {state:inactive (dead)|failed}", .example = "Active: inactive (dead)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("state", self.state);
    visit("since", self.since);
  }
};

using PastedMessages = Kinds<ShmUsage, MemlockLimit, P2pMatrixRow, TopoMatrixRow, IbPort, GidRow,
                             IbstatCa, IbstatState, IbstatPhysical, IbstatRate, IbstatLinkLayer,
                             ShellCommand, ServiceUnit, FabricManagerState>;

}  // namespace ncclog
