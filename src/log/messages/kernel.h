// What the kernel and its drivers say about GPUs, links, adapters, memory and processes that died.
//
//   [77123.456789] NVRM: Xid (PCI:0000:1b:00): 79, pid=4242, name=python3, GPU has fallen off the
//   bus. Jan 05 12:00:00 node-b kernel: mlx5_core 0000:5c:00.0: Port module event: module 0, Cable
//   unplugged [77123.456789] Out of memory: Killed process 4242 (python3) total-vm:184467440kB
//
// dmesg names neither host nor day; what stands before "] " is time since boot. A bus id says which
// GPU of a host it is ("busId 1b000" in NCCL's words). Wordings were read in Linux 4.18 to 6.12 and
// in logs of the NVIDIA driver 450 to 580.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The NVIDIA driver reports a GPU error: 79 fallen off the bus, 74 NVLink, 48, 63, 64, 94, 95
/// memory, 13 and 31 a fault of the program.
struct Xid {
  std::string_view bus_id;  ///< "0000:1b:00": domain, bus, device.
  int code = -1;
  int64_t pid = -1;       ///< Who used the GPU, in the host's numbers; -1 where not known.
  std::string_view name;  ///< Of that process.
  std::string_view text;

  static constexpr std::string_view kKind = "xid";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "NVRM: Xid (PCI:{bus_id}): {code}, pid={pid}, name={name}, {text...}",
       .example =
           "NVRM: Xid (PCI:0000:19:00): 79, pid=4242, name=python3, GPU has fallen off the bus."},
      {.text = "NVRM: Xid (PCI:{bus_id}): {code}, pid='<unknown>', name=<unknown>, {text...}",
       .example = "NVRM: Xid (PCI:0000:19:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal "
                  "error detected on link 6(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
      {.text = "NVRM: Xid (PCI:{bus_id}): {code}, pid={pid}, {text...}",
       .example =
           "NVRM: Xid (PCI:0000:19:00): 31, pid=4242, Ch 0000000a, intr 00000000. MMU Fault: "
           "ENGINE GRAPHICS GPC2 faulted",
       .general = true},
      {.text = "NVRM: Xid (PCI:{bus_id}): {code}, {text...}",
       .example = "NVRM: Xid (PCI:0000:19:00): 63, Row Remapper: New row marked for remapping",
       .general = true},
      {.text = "NVRM: Xid (PCI:{bus_id}): {code}", .example = "NVRM: Xid (PCI:0000:19:00): 48"},
      {.text = "NVRM: Xid ({bus_id}): {code}, {text...}",
       .example = "NVRM: Xid (0000:19:00): 13, Graphics Exception: ESR 0x505648=0x9",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("code", self.code);
    visit("pid", self.pid);
    visit("name", self.name);
    visit("text", self.text);
  }
};

/// An NVSwitch reports an error. Fatal ones take its links down until a reset.
struct Sxid {
  int nvswitch = -1;
  std::string_view bus_id;  ///< Of the switch: "0000:05:00.0".
  int code = -1;
  std::string_view severity;  ///< "Fatal", "Non-fatal"; empty on lines that add details.
  int link = -1;
  std::string_view text;

  static constexpr std::string_view kKind = "sxid";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "nvidia-nvswitch{nvswitch}: SXid (PCI:{bus_id}): {code}, "
               "{severity:Fatal|Non-fatal}, Link {link} {text...}",
       .example =
           "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"},
      {.text = "nvidia-nvswitch{nvswitch}: SXid (PCI:{bus_id}): {code}, "
               "{severity:Fatal|Non-fatal}, {text...}",
       .example =
           "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 11001, Fatal, ingress invalid command",
       .general = true},
      {.text = "nvidia-nvswitch{nvswitch}: SXid (PCI:{bus_id}): {code}, {text...}",
       .example = "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Severity 1 Engine instance 30 "
                  "Sub-engine instance 00",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("nvswitch", self.nvswitch);
    visit("bus_id", self.bus_id);
    visit("code", self.code);
    visit("severity", self.severity);
    visit("link", self.link);
    visit("text", self.text);
  }
};

/// The driver names a GPU: beside an Xid, which one it is.
struct GpuIdentity {
  std::string_view bus_id;
  std::string_view uuid;  ///< "GPU-5d2e…"; empty where it is not printed.

  static constexpr std::string_view kKind = "gpu_identity";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "NVRM: GPU at PCI:{bus_id:word}: {uuid:word}",
       .example = "NVRM: GPU at PCI:0000:19:00: GPU-5d2e6f10-0b5c-4f7a-9d1e-0c5f6a7b8c9d"},
      {.text = "NVRM: GPU {bus_id:word}: GPU has fallen off the bus.",
       .example = "NVRM: GPU 0000:19:00.0: GPU has fallen off the bus."},
      {.text = "NVRM: GPU Board Serial Number: {...}",
       .example = "NVRM: GPU Board Serial Number: 1650000000000"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("uuid", self.uuid);
  }
};

/// What the NVLink and NVSwitch drivers print beside errors: carries nothing that a rule uses.
struct NvlinkNote {
  std::string_view text;

  static constexpr std::string_view kKind = "nvlink_note";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "nvidia-nvlink: {text...}",
       .example = "nvidia-nvlink: Nvlink Core is being initialized, major device number 236"},
      {.text = "NVRM: knvlink{text...}",
       .example =
           "NVRM: knvlinkCoreShutdownDeviceLinks_IMPL: Unable to turn off links for the GPU0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// PCI Express reports an error (Advanced Error Reporting). Corrected ones cost nothing but time.
struct PcieError {
  std::string_view driver;    ///< Of the device: "pcieport", "nvidia", "mlx5_core".
  std::string_view bus_id;    ///< Where it was noticed: "0000:89:02.0".
  std::string_view severity;  ///< "Corrected", "Uncorrected (Non-Fatal)", "Uncorrected (Fatal)", …
  std::string_view type;      ///< "Physical Layer", "Transaction Layer"; empty if not printed.
  std::string_view source;    ///< Where it comes from; empty if not printed.

  static constexpr std::string_view kKind = "pcie_error";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text =
           "{driver:pcieport|nvidia|mlx5_core|mlx4_core|nvme|pci} {bus_id:word}: "
           "AER: {severity:Corrected|Correctable|Uncorrected (Non-Fatal)|Uncorrected "
           "(Fatal)|Uncorrectable (Non-Fatal)|Uncorrectable (Fatal)|Multiple Corrected|Multiple "
           "Correctable|Multiple Uncorrected (Non-Fatal)|Multiple Uncorrected (Fatal)|Multiple "
           "Uncorrectable (Non-Fatal)|Multiple Uncorrectable (Fatal)} error {:message "
           "received from|received:} {source...}",
       .example =
           "pcieport 0000:89:02.0: AER: Uncorrected (Non-Fatal) error received: 0000:8a:00.0"},
      {.text =
           "{driver:pcieport|nvidia|mlx5_core|mlx4_core|nvme|pci} {bus_id:word}: "
           "{:AER: PCIe Bus Error|PCIe Bus Error}: severity={severity}, type={type}, ({source})",
       .example = "nvidia 0000:8a:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), "
                  "type=Transaction Layer, (Requester ID)"},
      {.text = "{driver:pcieport|nvidia|mlx5_core|mlx4_core|nvme|pci} {bus_id:word}: "
               "{:AER:   device|  device|device} [{:word}] error status/mask={...}",
       .example =
           "pcieport 0000:89:02.0:   device [8086:347a] error status/mask=00000001/00000000"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("driver", self.driver);
    visit("bus_id", self.bus_id);
    visit("severity", self.severity);
    visit("type", self.type);
    visit("source", self.source);
  }
};

/// A port of a network adapter came up or went down.
struct HcaLink {
  std::string_view bus_id;
  std::string_view interface;
  std::string_view state;  ///< "up" or "down"

  static constexpr std::string_view kKind = "hca_link";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "mlx5_core {bus_id:word} {interface:word}: Link {state:up|down}",
       .example = "mlx5_core 0000:5c:00.0 ens5f0np0: Link down"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("interface", self.interface);
    visit("state", self.state);
  }
};

/// A network adapter reports a fault of its own: firmware, power, cable or module.
struct HcaFault {
  std::string_view bus_id;
  std::string_view what;  ///< "Detected insufficient power", "device's health compromised"
  std::string_view text;

  static constexpr std::string_view kKind = "hca_fault";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "mlx5_core {bus_id:word}: {:word}:{:int}:(pid {:int}): {what:Detected insufficient "
               "power|device's health compromised|Health issue observed,|Fatal error} {text...}",
       .example =
           "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 77): Detected insufficient power "
           "on the PCIe slot (27W)."},
      {.text = "mlx5_core {bus_id:word}: {:word}:{:int}:(pid {:int}): health recovery {what...}",
       .example = "mlx5_core 0000:5c:00.0: mlx5_health_try_recover:338:(pid 5553): health recovery "
                  "flow aborted, PCI reads still not working"},
      {.text = "mlx5_core {bus_id:word}: Port module event[error]: {what...}",
       .example = "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, "
                  "Bus stuck (I2C or data shorted)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("what", self.what);
    visit("text", self.text);
  }
};

/// What else the adapter's driver says: commands, completions, cables that were plugged.
struct HcaNote {
  std::string_view bus_id;
  std::string_view text;

  static constexpr std::string_view kKind = "hca_note";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "mlx5_core {bus_id:word}: {:word}:{:int}:(pid {:int}): cmd[{text...}",
       .example = "mlx5_core 0000:06:00.0: wait_func_handle_exec_timeout:1128:(pid 77): cmd[-22]: "
                  "CREATE_UCTX(0xa04) No done completion"},
      {.text = "mlx5_core {bus_id:word}: {:word}:{:int}:(pid {:int}): Recovered {text...}",
       .example = "mlx5_core 0000:5c:00.0: mlx5_cmd_eq_recover:247:(pid 3122): Recovered 1 EQEs on "
                  "cmd_eq"},
      {.text = "mlx5_core {bus_id:word}: {:word}:{:int}:(pid {:int}): CQ error on {text...}",
       .example = "mlx5_core 0000:5c:00.0: cq_err_event_notifier:529:(pid 9422): CQ error on CQN "
                  "0x406, syndrome 0x1"},
      {.text = "mlx5_core {bus_id:word}: {:Port module event|firmware version|E-Switch|Rate "
               "limit|wait_func}:{text...}",
       .example = "mlx5_core 0000:5c:00.0: Port module event: module 0, Cable unplugged"},
      {.text = "infiniband {bus_id:word}: dump_cqe:{:int}:(pid {:int}): {text...}",
       .example = "infiniband mlx5_2: dump_cqe:272:(pid 2123): dump error cqe"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("text", self.text);
  }
};

/// The kernel killed a process because host memory ran out, its own or its control group's.
struct OomKill {
  int64_t pid = -1;  ///< -1 if not printed.
  std::string_view name;
  std::string_view host;
  std::string_view step;  ///< Slurm's job step.

  static constexpr std::string_view kKind = "oom_kill";
  static constexpr Source kSource = Source::Framework;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "Out of memory: {:Killed|Kill} process {pid} ({name}){...}",
       .example =
           "Out of memory: Killed process 4242 (python3) total-vm:184467440kB, anon-rss:99999kB"},
      {.text = "Memory cgroup out of memory: {:Killed|Kill} process {pid} ({name}){...}",
       .example =
           "Memory cgroup out of memory: Killed process 4242 (python3) total-vm:184467440kB"},
      {.text = "{host:word} kernel: {:Out of memory|Memory cgroup out of memory}: {:Killed|Kill} "
               "process {pid} ({name}){...}",
       .example =
           "node-b kernel: Out of memory: Killed process 4242 (python3) total-vm:184467440kB"},
      {.text = "Killed process {pid} ({name}){...}",  // Up to Linux 4.18, below "Kill process".
       .example = "Killed process 4242 (python3) total-vm:184467440kB, anon-rss:99999kB"},
      {.text = "oom-kill:constraint={},task={name},pid={pid},{...}",
       .example = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_77,"
                  "mems_allowed=0-1,oom_memcg=/slurm/job_77,task_memcg=/slurm/job_77/step_0,"
                  "task=python3,pid=4242,uid=1000"},
      {.text = "oom_reaper: reaped process {pid} ({name}){...}",
       .example = "oom_reaper: reaped process 4242 (python3), now anon-rss:0kB, file-rss:0kB"},
      {.text = "slurmstepd: error: Detected {:int} {:oom_kill event|oom-kill event(s)} in "
               "{step:word} {...}",
       .example = "slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step "
                  "tasks have been OOM Killed."},
      {.text = "error: Detected {:int} {:oom_kill event|oom-kill event(s)} in {step:word} {...}",
       .example = "error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have "
                  "been OOM Killed."},
      {.text = "Reason:{}OOMKilled", .example = "Reason:       OOMKilled"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pid", self.pid);
    visit("name", self.name);
    visit("host", self.host);
    visit("step", self.step);
  }
};

/// A process asked for memory when there was none: not necessarily the one that was killed.
struct OomInvoked {
  std::string_view name;

  static constexpr std::string_view kKind = "oom_invoked";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{name:word} invoked oom-killer: {...}",
       .example = "python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("name", self.name); }
};

/// A process crashed: the kernel says in which library.
struct KernelSegfault {
  std::string_view name;
  int64_t pid = -1;
  std::string_view library;  ///< "libnccl.so.2"

  static constexpr std::string_view kKind = "kernel_segfault";
  static constexpr Source kSource = Source::Pasted;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Wording kWordings[] = {
      {.text = "{name:word}[{pid}]: segfault at {} in {library}[{...}",
       .example = "pt_main_thread[4242]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp "
                  "00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+12000]"},
      {.text = "traps: {name:word}[{pid}] general protection fault {} in {library}[{...}",
       .example = "traps: python3[4242] general protection fault ip:7f7c7ac69996 sp:7f7c12fd7c30 "
                  "error:0 in libc.so.6[7f7c7ac00000+195000]"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("pid", self.pid);
    visit("library", self.library);
  }
};

using KernelMessages = Kinds<Xid, Sxid, GpuIdentity, NvlinkNote, PcieError, HcaLink, HcaFault,
                             HcaNote, OomKill, OomInvoked, KernelSegfault>;

}  // namespace ncclog
