// Output of commands that people keep beside their logs.
//
//   shm              64M   64M     0 100% /dev/shm
//   GPU0    X       CNS     CNS     CNS
//   mlx5_0 port 1 ==> ib0 (Up)
//   #  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB
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

/// nccl-tests lists where each rank runs.
struct NcclTestsRank {
  int rank = -1;
  int64_t pid = -1;
  std::string_view host;  ///< Cut at the first dot.
  int device = -1;
  std::string_view bus_id;  ///< "0x17": without domain and function.
  std::string_view gpu;

  static constexpr std::string_view kKind = "nccl_tests_rank";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "#  Rank {rank} Group {} Pid {pid} on {host} device {device} [{bus_id}] {gpu...}",
       .example = "#  Rank  0 Group  0 Pid 114549 on node-a device  0 [0x17] NVIDIA A100-PCIE-40GB",
       .recognise = recognise_nccl_tests_rank},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("pid", self.pid);
    visit("host", self.host);
    visit("device", self.device);
    visit("bus_id", self.bus_id);
    visit("gpu", self.gpu);
  }
};

/// A result row of nccl-tests, out of place and in place.
struct NcclTestsResult {
  int64_t size = -1;   ///< Bytes.
  int64_t count = -1;  ///< Elements.
  std::string_view datatype;
  std::string_view redop;  ///< Empty for tests without one.
  std::string_view busbw;  ///< GB/s, out of place.
  std::string_view wrong;  ///< Wrong values; up to 2.10 the largest error, "2e-07".
  std::string_view busbw_in_place;
  std::string_view wrong_in_place;

  static constexpr std::string_view kKind = "nccl_tests_result";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{size} {count} {datatype} {redop}",
       .example = "8388608       2097152     float     sum      -1   4915.3    1.71    3.20      0 "
                  "  5012.1    1.67    3.14      0",
       .recognise = recognise_nccl_tests_result},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("count", self.count);
    visit("datatype", self.datatype);
    visit("redop", self.redop);
    visit("busbw", self.busbw);
    visit("wrong", self.wrong);
    visit("busbw_in_place", self.busbw_in_place);
    visit("wrong_in_place", self.wrong_in_place);
  }
};

/// nccl-tests counts wrong results.
struct NcclTestsOutOfBounds {
  int64_t count = -1;
  std::string_view verdict;  ///< "OK" or "FAILED"

  static constexpr std::string_view kKind = "nccl_tests_out_of_bounds";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# Out of bounds values : {count} {verdict:OK|FAILED}",
       .example = "# Out of bounds values : 0 OK"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("count", self.count);
    visit("verdict", self.verdict);
  }
};

/// The mean bus bandwidth over all sizes.
struct NcclTestsBandwidth {
  std::string_view busbw;  ///< GB/s

  static constexpr std::string_view kKind = "nccl_tests_bandwidth";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "# Avg bus bandwidth    : {busbw:word}",
       .example = "# Avg bus bandwidth    : 3.71538"},
  };
  static void each_field(auto& self, auto&& visit) { visit("busbw", self.busbw); }
};

/// An NCCL or CUDA call of nccl-tests failed.
struct NcclTestsFailure {
  std::string_view host;
  std::string_view api;  ///< "NCCL" or "CUDA"
  std::string_view file;
  int line = -1;
  std::string_view error;
  std::string_view last_error;  ///< The last NCCL WARN; empty before 2.13 and where there is none.

  static constexpr std::string_view kKind = "nccl_tests_failure";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{host:word}: Test {api:NCCL|CUDA} failure {file}:{line} '{error} / {last_error}'",
       .example = "node-a: Test NCCL failure common.cu:1005 'unhandled system error (run with "
                  "NCCL_DEBUG=INFO for details) / Call to ibv_reg_mr failed'"},
      {.text = "{host:word}: Test {api:NCCL|CUDA} failure {file}:{line} '{error:internal "
               "error|invalid argument|invalid usage|unhandled cuda error|unhandled system error}'",
       .example = "node-a: Test NCCL failure common.cu:345 'unhandled system error'"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("api", self.api);
    visit("file", self.file);
    visit("line", self.line);
    visit("error", self.error);
    visit("last_error", self.last_error);
  }
};

/// Where that failure was passed on.
struct NcclTestsTrace {
  std::string_view host;
  int64_t pid = -1;
  std::string_view file;
  int line = -1;

  static constexpr std::string_view kKind = "nccl_tests_trace";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = ".. {host:word} pid {pid}: Test failure {file}:{line}",
       .example = ".. node-a pid 4242: Test failure common.cu:891"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("host", self.host);
    visit("pid", self.pid);
    visit("file", self.file);
    visit("line", self.line);
  }
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

using PastedMessages =
    Kinds<ShmUsage, MemlockLimit, P2pMatrixRow, TopoMatrixRow, IbPort, GidRow, IbstatCa,
          IbstatState, IbstatPhysical, IbstatRate, IbstatLinkLayer, NcclTestsRank, NcclTestsResult,
          NcclTestsOutOfBounds, NcclTestsBandwidth, NcclTestsFailure, NcclTestsTrace, ShellCommand,
          ServiceUnit, FabricManagerState>;

}  // namespace ncclog
