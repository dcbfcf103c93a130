// Topology, graph search and tuning: files that cannot be read, tables that overflow, paths that do
// not exist.
//
//   Could not open XML topology file /etc/nccl/topo.xml : No such file or directory

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A topology or graph file cannot be used or written (graph/xml.cc).
struct XmlFileFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "xml_file_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The topology or graph file that a setting names cannot be opened or has another format "
      "version. Check NCCL_GRAPH_FILE and NCCL_TOPO_FILE; write the file anew with this release."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:XML Graph has wrong version|XML Topology has wrong version} {...}",
       .example = "XML Graph has wrong version 3, 3 needed"},
      {.text = "Could not {text:open XML graph file} {...}",
       .example = "Could not open XML graph file /etc/nccl/graph.xml : No such file or directory"},
      {.text = "Could not {text:open XML topology file} {...}",
       .example = "Could not open XML topology file /etc/nccl/topo.xml : No such file or directory",
       .warning = {WarnSeverity::Degraded, WarnOrigin::User,
                   "The topology file cannot be opened, so NCCL detects the machine by itself. "
                   "Check the path in NCCL_TOPO_FILE."}},
      {.text = "{text:Unable to open} {}, not dumping topology.",
       .example = "Unable to open /readonly/topo.xml, not dumping topology.",
       .warning = {WarnSeverity::Degraded, WarnOrigin::User,
                   "The detected topology cannot be written to the file that NCCL_TOPO_DUMP_FILE "
                   "names. The job itself is not affected."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// XML that NCCL cannot read (graph/xml.cc, graph/xml.h).
struct XmlInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "xml_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The topology or graph XML is malformed or holds longer names than NCCL reads, so "
      "initialisation fails. Mend the file, or let NCCL detect the machine."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:XML Parse : Expected (double) quote.|XML Parse : Unexpected EOF|XML Parse "
               "error : unterminated comment}",
       .example = "XML Parse : Expected (double) quote."},
      {.text =
           "{text:KV Convert to str : could not find value|XML Mismatch :|XML Parse : Unexpected "
           "value with name|XML Parse : expected >, got|XML Parse : unterminated|XML Parse error : "
           "expecting '<', got|XML Parse error : unexpected trailing} {...}",
       .example = "KV Convert to str : could not find value 3 in dictionary"},
      {.text = "{text:Attribute} {} of node {} not found",
       .example = "Attribute busid of node pci not found"},
      {.text = "Error : {text:name|value} {} too long (max {:int})",
       .example = "Error : name mlx5_0 too long (max 3)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The machine exceeds NCCL's tables (graph/xml.h, graph/topo.cc).
struct TopologyTooLarge {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "topology_too_large";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The machine has more devices or links than NCCL's topology tables hold, often through "
      "virtual NICs or PCI functions. Restrict the NICs with NCCL_IB_HCA."};
  static constexpr Wording kWordings[] = {
      {.text = "Error : {text:XML parser is limited to 1024 nodes}",
       .example = "Error : XML parser is limited to 1024 nodes"},
      {.text = "Error : {text:XML parser is limited to|ran out of room to store found nodes in "
               "ncclTopoGetLocal. Filled|too many Topo links (max|too many XML nodes (max|too many "
               "XML subnodes (max|tried to create too many nodes of type} {...}",
       .example = "Error : XML parser is limited to 3 subnodes",
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The graph file is about another machine (graph/search.cc).
struct GraphFileMismatch {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "graph_file_mismatch";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "The graph file names ranks or devices that this machine does not have. Remove "
      "NCCL_GRAPH_FILE or write the file anew here."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:XML Export Channel : rank|XML Import Channel : dev} {...}",
       .example = "XML Export Channel : rank 3 not found."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The search for rings and trees found nothing (graph/search.cc, rings.cc).
struct GraphFallback {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "graph_fallback";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "No good ring or tree was found for this machine, so ranks are joined in plain order and "
      "bandwidth suffers. Virtual machines often hide the PCI details that the search needs."};
  static constexpr Wording kWordings[] = {
      {.text = "Could not {text:create rings, falling back on simple ring}",
       .example = "Could not create rings, falling back on simple ring"},
      {.text = "Could not {text:find a path for pattern} {...}",
       .example = "Could not find a path for pattern 3, falling back to simple order"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A wanted number of channels, threads or rings is out of range (graph/tuning.cc,
/// graph/connect.cc).
struct ChannelsCapped {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "channels_capped";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::User,
      "The number of channels, threads or rings that was asked for is out of range and is "
      "corrected. Check NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS and NCCL_NTHREADS."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:maxCTAs} {:int} is larger than #channels upper limit {:int}",
       .example = "maxCTAs 3 is larger than #channels upper limit 3"},
      {.text = "{text:minCTAs} {:int} is larger than #channels upper limit {:int}",
       .example = "minCTAs 3 is larger than #channels upper limit 3"},
      {.text = "{text:minCTAs} {:int} is larger than maxCTAs {:int}",
       .example = "minCTAs 3 is larger than maxCTAs 3"},
      {.text = "{text:NCCL_MIN_NRINGS set to a value greater than NCCL_MAX_NRINGS, ignoring "
               "NCCL_MIN_NRINGS}",
       .example =
           "NCCL_MIN_NRINGS set to a value greater than NCCL_MAX_NRINGS, ignoring NCCL_MIN_NRINGS"},
      {.text = "{text:NCCL_MIN_NRINGS set to a value greater than the maximum number of rings "
               "supported|User asked for a maximum of|User asked for a minimum of} {...}",
       .example = "NCCL_MIN_NRINGS set to a value greater than the maximum number of rings "
                  "supported (3), limiting it to 3"},
      {.text = "{text:Invalid} {} {:int} (maximum {:int}).",
       .example = "Invalid mlx5_0 3 (maximum 3)."},
      {.text = "{text:Invalid} {} {:int} (minimum {:int}).",
       .example = "Invalid mlx5_0 3 (minimum 3)."},
      {.text = "{text:Invalid} {} {:int} (must be a multiple of {:int})",
       .example = "Invalid mlx5_0 3 (must be a multiple of 3)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// NCCL_ALGO or NCCL_PROTO cannot be read (graph/tuning.cc, 2.24.3 and later).
struct AlgorithmSettingInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "algorithm_setting_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Tuning;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "NCCL_ALGO or NCCL_PROTO cannot be read, so initialisation "
                                    "fails. Correct the list, or unset it."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:All entries except the first must have a prefix:|Unrecognized element "
               "token|Unrecognized prefix token} {...}",
       .example = "All entries except the first must have a prefix: \"ring;tree\""},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// How many NICs a GPU shall use (graph/topo.cc, 2.28.3 and later).
struct NetPolicyInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "net_policy_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{WarnSeverity::Fatal, WarnOrigin::User,
                                    "NCCL_NETDEVS_POLICY asks for an impossible number of NICs for "
                                    "each GPU, or for an unknown policy. Correct or unset it."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Unknown netDevs policy}", .example = "Unknown netDevs policy"},
      {.text = "{text:Invalid number of network devices =} {...}",
       .example = "Invalid number of network devices = 3 for policy MAX"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// The merged topology lacks this host (graph/topo.cc, 2.27.5 and later).
struct HostMissing {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "host_missing";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The merged topology does not contain this host. A topology file was copied between hosts, "
      "or hosts report the same identity."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:localHostHash =} {...}",
       .example = "localHostHash = 0x1a2b not found in the list of system hostHashes"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Rings and trees that are none (graph/rings.cc, graph/connect.cc).
struct RingInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ring_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The ring or tree that ranks agreed on is not closed or misses a rank, as when hosts "
      "computed different graphs. Compare topology, NIC count and NCCL_GRAPH_FILE of all hosts."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Internal error : tree already has} {...}",
       .example = "Internal error : tree already has 3 children (3 3 3)"},
      {.text = "Error : {text:ring} {:int} does not contain rank {:int}",
       .example = "Error : ring 3 does not contain rank 3"},
      {.text = "Error : {text:ring} {:int} does not loop back to start ({:int} != {:int})",
       .example = "Error : ring 3 does not loop back to start (3 != 3)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Partitions of a GPU (graph/topo.cc, 2.30.7).
struct GpuPartitionInvalid {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "gpu_partition_invalid";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NCCL cannot number the partitions of this GPU in its topology. Set "
      "NCCL_TOPO_SPLIT_MLOPART=0 to treat the GPU as a whole."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:BusId} {:hex} has non-zero bits in MLOPart mask {...}",
       .example = "BusId 0x1a2b has non-zero bits in MLOPart mask 0x1a2b, cannot encode MLOPart "
                  "partition index without collision"},
      {.text = "{text:MLOPart index|ncclTopoGetDevNodes : too many DEV nodes for busId} {...}",
       .example = "MLOPart index 3 out of range (max 3)"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A GPU without any NIC (graph/topo.cc, 2.25.1 and later).
struct NoLocalNic {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "no_local_nic";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "No NIC can be reached from this GPU in the topology. The topology file is wrong, or the NIC "
      "failed or is hidden from the container."};
  static constexpr Wording kWordings[] = {
      {.text = "Could not {text:find any local path from gpu} {...}",
       .example = "Could not find any local path from gpu 3 to net."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// NCCL's picture of the machine lacks a part (graph/*.cc).
struct TopologyIncomplete {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "topology_incomplete";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "NCCL's picture of this machine lacks a device or path that it needs, so initialisation "
      "fails. Suspect the topology file, virtual PCI or MIG, or ranks that see different devices."};
  static constexpr Wording kWordings[] = {
      {.text = "Error : {text:Could not find transport to connect next group}",
       .example = "Error : Could not find transport to connect next group"},
      {.text = "{text:GetXmlFromCpu : could not find CPU numa ID.|TopoFuseXmls : could not find "
               "CPU numa ID.|getXmlFromCpu: Unknown CPU architecture|ncclTopoGetSystemFromXml: "
               "system node not found in XML}",
       .example = "GetXmlFromCpu : could not find CPU numa ID."},
      {.text = "{text:Add C2c error : could not find DEV for GPU|Add NVLink error : could not find "
               "DEV for GPU|Add NVLink error : could not find GPU|Add PCI Link error : could not "
               "find PCI SW|Failed to find reverse path from remNode|No path computed to go "
               "from|Set CPU affinity : unable to find GPU/CPU for rank|ncclCheckMultiRank "
               "exceeded number of local ranks|ncclTopoDevToRank could not find rank for nvml "
               "dev|ncclTopoRankToIndex could not find rank} {...}",
       .example = "Add C2c error : could not find DEV for GPU mlx5_0"},
      {.text = "{text:Gpus} {:int} and {:int} both have a type of {...}",
       .example = "Gpus 3 and 3 both have a type of 3 with net 3 yet have different netMasks of "
                  "1a2b and 1a2b"},
      {.text = "Could not {text:find GPU with rank|find NET with id|find NIC for rank|find gpu "
               "rank|find id|find intermediate GPU between GPU rank|find local GPU with rank|find "
               "net id|find node of type|find rev link for} {...}",
       .example = "Could not find GPU with rank 3"},
      {.text = "Error : {text:could not find CPU close to GPU} {...}",
       .example = "Error : could not find CPU close to GPU 3"},
      {.text = "Rank {:int} {text:requires NIC} {...}",
       .example = "Rank 3 requires NIC 3 but that NIC is not available for rank 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Rings from settings that NCCL takes over or ignores (rings.cc, graph/connect.cc).
struct GraphNote {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "graph_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{text:No valid ring found in environment, ignoring}",
       .example = "No valid ring found in environment, ignoring"},
      {.text = "{text:Duplicating rings to|Limiting to} {...}",
       .example = "Duplicating rings to 3 per user request."},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using GraphFailedMessages =
    Kinds<XmlFileFailed, XmlInvalid, TopologyTooLarge, GraphFileMismatch, GraphFallback,
          ChannelsCapped, AlgorithmSettingInvalid, NetPolicyInvalid, HostMissing, RingInvalid,
          GpuPartitionInvalid, NoLocalNic, TopologyIncomplete, GraphNote>;

}  // namespace ncclog
