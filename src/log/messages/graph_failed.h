// Topology, graph search and tuning: files that cannot be read, tables that overflow, paths that do
// not exist.
//
//   Could not open XML topology file /etc/nccl/topo.xml : No such file or directory

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// NCCL could not build or search its picture of the machine, or corrected a setting for it
/// (graph/*.cc).
struct GraphFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "graph_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "Could not {text:create rings, falling back on simple ring}",
       .example = "Could not create rings, falling back on simple ring"},
      {.text = "Error : {text:Could not find transport to connect next group|XML parser is limited "
               "to 1024 nodes}",
       .example = "Error : Could not find transport to connect next group"},
      {.text = "Error: {text:trying to connect already connected sendComm}",
       .example = "Error: trying to connect already connected sendComm"},
      {.text =
           "{text:Fusing NET devices from different NUMA domains is not supported.|GetXmlFromCpu : "
           "could not find CPU numa ID.|NCCL_MIN_NRINGS set to a value greater than "
           "NCCL_MAX_NRINGS, ignoring NCCL_MIN_NRINGS|TopoFuseXmls : could not find CPU numa "
           "ID.|Unknown netDevs policy|Warning: remote FLID configured as zero even when endpoints "
           "are on different subnets, using dlid as fallback|XML Parse : Expected (double) "
           "quote.|XML Parse : Unexpected EOF|XML Parse error : unterminated "
           "comment|getXmlFromCpu: Unknown CPU architecture|ncclTopoGetSystemFromXml: system node "
           "not found in XML|No valid ring found in environment, ignoring}",
       .example = "Fusing NET devices from different NUMA domains is not supported."},
      {.text = "TOPO/NET : {text:Tried merging multiple devices together and failed. Try setting "
               "NCCL_NET_MERGE_LEVEL=LOC}",
       .example = "TOPO/NET : Tried merging multiple devices together and failed. Try setting "
                  "NCCL_NET_MERGE_LEVEL=LOC",
       .quotable = true},
      {.text =
           "{text:Add C2c error : could not find DEV for GPU|Add NVLink error : could not find DEV "
           "for GPU|Add NVLink error : could not find GPU|Add PCI Link error : could not find PCI "
           "SW|All entries except the first must have a prefix:|BusId|Failed to find reverse path "
           "from remNode|Gpus|Internal error : tree already has|Invalid number of network devices "
           "=|KV Convert to str : could not find value|Listencomm in unknown state} {...}",
       .example = "Add C2c error : could not find DEV for GPU mlx5_0"},
      {.text = "{text:MLOPart index|NCCL_MIN_NRINGS set to a value greater than the maximum number "
               "of rings supported|NET/TOPO : Couldn't find net with name|No path computed to go "
               "from|Set CPU affinity : unable to find GPU/CPU for rank|Specified fused NIC|Unable "
               "to open|Unrecognized element token|Unrecognized prefix token|User asked for a "
               "maximum of|User asked for a minimum of|XML Export Channel : rank} {...}",
       .example = "MLOPart index 3 out of range (max 3)"},
      {.text =
           "{text:XML Graph has wrong version|XML Import Channel : dev|XML Mismatch :|XML Parse : "
           "Unexpected value with name|XML Parse : expected >, got|XML Parse : unterminated|XML "
           "Parse error : expecting '<', got|XML Parse error : unexpected trailing|XML Topology "
           "has wrong version|localHostHash =|ncclCheckMultiRank exceeded number of local "
           "ranks|ncclTopoDevToRank could not find rank for nvml dev} {...}",
       .example = "XML Graph has wrong version 3, 3 needed"},
      {.text = "{text:ncclTopoFillNet: parent is NULL even after fallback for|ncclTopoGetDevNodes "
               ": too many DEV nodes for busId|ncclTopoRankToIndex could not find rank|Duplicating "
               "rings to|Limiting to} {...}",
       .example = "ncclTopoFillNet: parent is NULL even after fallback for mlx5_0"},
      {.text = "{text:Attribute} {} of node {} not found",
       .example = "Attribute mlx5_0 of node mlx5_0 not found"},
      {.text = "Could not {text:find GPU with rank|find NET with id|find NIC for rank|find a path "
               "for pattern|find any local path from gpu|find gpu rank|find id|find intermediate "
               "GPU between GPU rank|find local GPU with rank|find net id|find node of type|find "
               "rev link for} {...}",
       .example = "Could not find GPU with rank 3"},
      {.text = "Could not {text:open XML graph file|open XML topology file} {...}",
       .example = "Could not open XML graph file mlx5_0 : mlx5_0"},
      {.text = "Error : {text:XML parser is limited to|could not find CPU close to GPU|name|ran "
               "out of room to store found nodes in ncclTopoGetLocal. Filled|too many Topo links "
               "(max|too many XML nodes (max|too many XML subnodes (max|tried to create too many "
               "nodes of type|value} {...}",
       .example = "Error : XML parser is limited to 3 subnodes"},
      {.text = "Error : {text:ring} {:int} does not contain rank {:int}",
       .example = "Error : ring 3 does not contain rank 3"},
      {.text = "Error : {text:ring} {:int} does not loop back to start ({:int} != {:int})",
       .example = "Error : ring 3 does not loop back to start (3 != 3)"},
      {.text = "{text:Invalid} {} {:int} (maximum {:int}).",
       .example = "Invalid mlx5_0 3 (maximum 3)."},
      {.text = "{text:Invalid} {} {:int} (minimum {:int}).",
       .example = "Invalid mlx5_0 3 (minimum 3)."},
      {.text = "{text:Invalid} {} {:int} (must be a multiple of {:int})",
       .example = "Invalid mlx5_0 3 (must be a multiple of 3)"},
      {.text = "Rank {:int} {text:requires NIC} {...}",
       .example = "Rank 3 requires NIC 3 but that NIC is not available for rank 3"},
      {.text = "TOPO/NET : {text:Can't find busId of child 0|Could not force merge NICs|Couldn't "
               "generate unique busId after|Only matched|Tried to merge too many NICs.|Tried "
               "merging multiple devices together and failed.} {...}",
       .example = "TOPO/NET : Can't find busId of child 0 mlx5_0",
       .quotable = true,
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using GraphFailedMessages = Kinds<GraphFailed>;

}  // namespace ncclog
