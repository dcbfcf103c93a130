// The machine as NCCL sees it, and the graphs that it searched in it (subsystem GRAPH).
//
//   === System : maxBw 48.0 totalBw 240.0 ===
//   CPU/0-0 (1/1/2)
//   + PCI[48.0] - GPU/0-a1000 (3)
//   Pattern 4, crossNic 0, nChannels 16, bw 40.000000/40.000000, type NVL/PIX, sameChannels 1
//
// Blanks at the start of a line show the depth of a node; they are gone here. Bandwidths are GB/s.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A host's topology begins (graph/topo.cc); a line of "=" ends it.
struct SystemHeader {
  std::string_view max_bw;    ///< GB/s of one GPU's best link.
  std::string_view total_bw;  ///< Empty in 2.6 and 2.7.

  static constexpr std::string_view kKind = "system_header";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "=== System : {:maxBw|maxWidth} {max_bw:word} {:totalBw|totalWidth|maxSpeed} "
               "{total_bw:word} ===",
       .example = "=== System : maxBw 48.0 totalBw 240.0 ==="},
      {.text = "=== System : maxWidth {max_bw:word} ===",
       .example = "=== System : maxWidth 48.0 ==="},
      {.text = "==========================================",
       .example = "=========================================="},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("max_bw", self.max_bw);
    visit("total_bw", self.total_bw);
  }
};

/// A node of the topology (graph/topo.cc).
struct TopologyNode {
  /// How it hangs on the node above: "PCI", "NVL", "SYS", "NET" …; empty at the top.
  std::string_view link;
  std::string_view bw;  ///< GB/s of that link; empty at the top.
  /// "GPU/0-a1000 (3)": kind, id, and in brackets what the kind has to say.
  std::string_view node;

  static constexpr std::string_view kKind = "topology_node";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "+ {link:PCI|NVL|NET|SYS|LOC|C2C|QPI}[{bw}] - {node...}",
       .example = "+ PCI[48.0] - GPU/0-a1000 (3)"},
      {.text = "CPU/{node:word} ({:word})", .example = "CPU/0-0 (1/1/2)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("link", self.link);
    visit("bw", self.bw);
    visit("node", self.node);
  }
};

/// The paths from one node to all others (graph/topo.cc): "node (hops/bandwidth/type)".
struct TopologyPaths {
  std::string_view kind;    ///< "GPU" or "NET" …
  std::string_view system;  ///< Host inside an NVLink domain; empty up to 2.22.
  std::string_view node;    ///< Id, hexadecimal.
  std::string_view paths;   ///< Cut at 1023 characters on big machines.

  static constexpr std::string_view kKind = "topology_paths";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{kind:GPU|NET|GIN|RMA}/{node:hex} :{paths...}",
       .example = "GPU/A1000 :GPU/A1000 (0/5000.000000/LOC) CPU/0 (2/48.000000/PHB)"},
      {.text = "{kind:GPU|NET|GIN|RMA}/{system:hex}-{node:hex} :{paths...}",
       .example = "GPU/0-a1000 :GPU/0-a1000 (0/5000.0/LOC) GPU/0-c1000 (2/240.0/NVL) CPU/0-0 "
                  "(2/48.0/PHB)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("system", self.system);
    visit("node", self.node);
    visit("paths", self.paths);
  }
};

/// A result of the search for channels (graph/search.cc).
struct GraphPattern {
  int pattern = -1;        ///< 1 to 3 trees, 4 ring, 5 NVLS, 6 CollNet direct.
  int cross_nic = -1;      ///< NCCL_CROSS_NIC: 0 no, 1 yes, 2 if it helps.
  int channels = -1;       ///< 0: not possible.
  std::string_view bw;     ///< "intra/inter", GB/s.
  int nvlink = -1;         ///< 2.5 only.
  int same_channels = -1;  ///< 1: every node uses the same order.
  std::string_view type;   ///< Path types "intra/inter".

  static constexpr std::string_view kKind = "graph_pattern";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text =
           "Pattern {pattern}, crossNic {cross_nic}, nChannels {channels}, {:bw|speed} {bw:word}, "
           "type {type:word}, sameChannels {same_channels}",
       .example = "Pattern 4, crossNic 0, nChannels 16, bw 40.000000/40.000000, type NVL/PIX, "
                  "sameChannels 1"},
      {.text =
           "Pattern {pattern}, crossNic {cross_nic}, nChannels {channels}, speed {bw:word}, nvlink "
           "{nvlink}, type {type:word}, sameChannels {same_channels}",
       .example =
           "Pattern 4, crossNic 0, nChannels 2, speed 21/21, nvlink 1, type 1, sameChannels 1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("pattern", self.pattern);
    visit("cross_nic", self.cross_nic);
    visit("channels", self.channels);
    visit("bw", self.bw);
    visit("type", self.type);
    visit("nvlink", self.nvlink);
    visit("same_channels", self.same_channels);
  }
};

/// The members of one channel of a graph_pattern (graph/search.cc).
struct GraphChannel {
  int channel = -1;
  /// "GPU/0-60 GPU/0-70" or "NET/0-0 GPU/0-60 … NET/0-0", the first without its kind.
  std::string_view members;

  static constexpr std::string_view kKind = "graph_channel";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{channel} : {:GPU|NET|GIN}/{members...}",
       .example = "0 : GPU/0-60 GPU/0-70 GPU/0-80 GPU/0-90"},
      // GPUs are ranks up to 2.27.3.
      {.text = "{channel} : {members:ints}", .example = "0 : 0 1 2 3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("members", self.members);
  }
};

/// A network device was placed in the topology (graph/topo.cc, 2.24.3 and later).
struct NicFilled {
  std::string_view name;
  std::string_view pci_path;  ///< "(null)" for virtual devices.

  static constexpr std::string_view kKind = "nic_filled";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "ncclTopoPopulateNics : Filled {name} in topo with pciPath={pci_path:word} {...}",
       .example = "ncclTopoPopulateNics : Filled eth0 in topo with "
                  "pciPath=/sys/devices/pci0000:00/0000:00:03.0/virtio2 keep=1 coll=(null)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("name", self.name);
    visit("pci_path", self.pci_path);
  }
};

/// The CPU cores that a rank's threads are bound to (graph/topo.cc).
struct CpuAffinity {
  int gpu = -1;           ///< CUDA device up to 2.5, NVML index later, rank from 2.28 on.
  std::string_view cpus;  ///< Hexadecimal mask up to 2.26, ranges later; "empty" if none remain.

  static constexpr std::string_view kKind = "cpu_affinity";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "Setting affinity for GPU {gpu} to {cpus:word}",
       .example = "Setting affinity for GPU 3 to ffff,0000ffff"},
      {.text = "ncclTopoGetCpuAffinity: Affinity for GPU {gpu} is {cpus:word}. {...}",
       .example = "ncclTopoGetCpuAffinity: Affinity for GPU 3 is 0-31. (GPU affinity = 0-63 ; CPU "
                  "affinity = 0-31)."},
      {.text = "ncclTopoGetCpuAffinity: Affinity for GPU {gpu} is {cpus:empty}, ignoring. {...}",
       .example = "ncclTopoGetCpuAffinity: Affinity for GPU 2 is empty, ignoring. (GPU affinity =  "
                  "; CPU affinity = 0-127)."},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("gpu", self.gpu);
    visit("cpus", self.cpus);
  }
};

/// What else is said while the machine is looked at (graph/*.cc); most of it happens in every
/// virtual machine.
struct TopologyNote {
  std::string_view text;

  static constexpr std::string_view kKind = "topology_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "Could not find real path of {text...}",
       .example = "Could not find real path of /sys/class/pci_bus/fffffff/../../fffffff:ff:f",
       .warning =
           {WarnSeverity::Degraded, WarnOrigin::System,
            "A device's place on PCI cannot be read from sysfs, so paths are guessed, or, up "
            "to 2.8, the initialisation fails. Make /sys visible, or give NCCL_TOPO_FILE."}},
      {.text = "Topology detection : could not read {text}, ignoring",
       .example = "Topology detection : could not read "
                  "/sys/devices/pci0000:00/0000:00:08.0/../max_link_speed, ignoring"},
      {.text = "Topology detection: could not read {text}, using empty affinity",
       .example = "Topology detection: could not read /sys/devices/system/node/node0/cpumap, using "
                  "empty affinity"},
      {.text = "Topology detection: network path {text} is not a PCI device {...}",
       .example = "Topology detection: network path (name = eth0) "
                  "/sys/devices/pci0000:00/0000:00:03.0/virtio2 is not a PCI device (virtio). "
                  "Attaching to first CPU"},
      {.text = "TOPO/NET : {text:Importing network plugins to topology}",
       .example = "TOPO/NET : Importing network plugins to topology"},
      {.text = "TOPO/NET : {text:Made vNic|Changing|Force-fusing NICs using} {...}",
       .example = "TOPO/NET : Made vNic 8"},
      {.text = "Loading {:topology|topology file|graphs for topology} {text...}",
       .example = "Loading topology file /etc/nccl/topo.xml"},
      {.text = "Loading {text:unnamed topology|graphs}", .example = "Loading graphs"},
      {.text = "Paths from {text...}", .example = "Paths from GPU/0-a1000 :"},
      {.text = "Search {:int} : {text:int} channels loaded from XML graph",
       .example = "Search 4 : 2 channels loaded from XML graph"},
      {.text = "Ignoring element {text...}", .example = "Ignoring element pcie"},
      {.text = "{:Retrieving state for|Initialized state} {text...}",
       .example = "Retrieving state for IB"},
      {.text = "CPUs with mixed {text:architecture|vendors} were detected.",
       .example = "CPUs with mixed vendors were detected."},
      {.text = "GPU {:int} / HCA {:hex} connected {text...}",
       .example = "GPU 3 / HCA 1 connected via C2C link"},
      {.text = "Disabling LL128 over all PxN connections {text...}",
       .example = "Disabling LL128 over all PxN connections (PXB and C2C). This ensures that no "
                  "C2C link will be used by LL128."},
      {.text = "{text:Assuming NVLink is connected to NVswitch}",
       .example = "Assuming NVLink is connected to NVswitch"},
      {.text = "{:int}/{:int} -> {:word} : {text:Assuming NVLink is connected to NVswitch}",
       .example = "0/1 -> 068000 : Assuming NVLink is connected to NVswitch"},
      {.text = "NVLink target {text...}",
       .example = "NVLink target 0000:05:00.0 not visible, assuming NVSwitch"},
      {.text = "Could not get device class for NVLink target {text...}",
       .example = "Could not get device class for NVLink target 0000:05:00.0, assuming NVSwitch"},
      {.text = "{text:Marking physical devices as unplaced}, increasing distance and restarting "
               "search.",
       .example =
           "Marking physical devices as unplaced, increasing distance and restarting search."},
      {.text = "{text:Did not find child net device.|Found child net device for} {...}",
       .example =
           "Found child net device for mlx5_0. Returning link_width=16 totalChildLinkWidth=32"},
      {.text = "{text:Widening links|Failed to read refresh_switch_toplogy|latencyinter not found "
               "in graph, using 0.0}",
       .example = "latencyinter not found in graph, using 0.0"},
      {.text = "KV Convert to int : could not find value of {text...}",
       .example = "KV Convert to int : could not find value of '64.0 GT/s PCIe' in dictionary, "
                  "falling back to 60",
       .warning =
           {WarnSeverity::Degraded, WarnOrigin::System,
            "A value in the topology is not in NCCL's table, so a default stands in for it."}},
      {.text = "XML Parse : Ignoring extra attributes (max {text:int})",
       .example = "XML Parse : Ignoring extra attributes (max 16)"},
      {.text = "ncclTopoGetXmlFromSys: {text...}",
       .example = "ncclTopoGetXmlFromSys: could not get PCI parent for 0000:05:00.0, defaulting to "
                  "CPU root complex"},
      {.text = "ncclNvmlDeviceGetPciInfoExt: {text...}",
       .example = "ncclNvmlDeviceGetPciInfoExt: nvmlPciInfoExt_v1: 1"},
      {.text = "{text:No NVML device handle. Skipping nvlink detection.|No NVML, trying to use "
               "CUDA instead}",
       .example = "No NVML device handle. Skipping nvlink detection.",
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "NVML gives no handle for this GPU, so NVLink cannot be detected and GPUs may "
                   "talk over PCI instead."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using TopologyMessages = Kinds<SystemHeader, TopologyNode, TopologyPaths, GraphPattern,
                               GraphChannel, NicFilled, CpuAffinity, TopologyNote>;

}  // namespace ncclog
