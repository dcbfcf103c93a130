// NICs that are fused into one: which ones, where the result stands, whether both ends agree.
//
//   TOPO/NET : Only matched 1 devices, 2 requested from mlx5_0,mlx5_9

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// NICs that cannot be fused (graph/topo.cc, 2.24.3 and later).
struct NicMergeFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "nic_merge_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::User,
      "NICs cannot be fused as the settings ask: a name does not match, too many are listed, or "
      "they do not belong together. Check NCCL_NET_FORCE_MERGE and NCCL_NET_MERGE_LEVEL."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Fusing NET devices from different NUMA domains is not supported.}",
       .example = "Fusing NET devices from different NUMA domains is not supported."},
      {.text = "TOPO/NET : {text:Tried merging multiple devices together and failed. Try setting "
               "NCCL_NET_MERGE_LEVEL=LOC}",
       .example = "TOPO/NET : Tried merging multiple devices together and failed. Try setting "
                  "NCCL_NET_MERGE_LEVEL=LOC",
       .quotable = true},
      {.text = "{text:NET/TOPO : Couldn't find net with name|Specified fused NIC} {...}",
       .example = "NET/TOPO : Couldn't find net with name mlx5_0"},
      {.text = "TOPO/NET : {text:Could not force merge NICs|Only matched|Tried to merge too many "
               "NICs.|Tried merging multiple devices together and failed.} {...}",
       .example = "TOPO/NET : Could not force merge NICs mlx5_0. Please specify a valid "
                  "NCCL_NET_FORCE_MERGE string.",
       .quotable = true,
       .general = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Where a fused NIC stands in the topology (graph/topo.cc, graph/xml.cc, 2.24.3 and later).
struct VirtualNicUnplaced {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "virtual_nic_unplaced";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "A fused NIC cannot be placed in the PCI tree, because its parts have no usable place there. "
      "Suspect an odd PCI layout; NCCL_NET_MERGE_LEVEL=LOC avoids fusing."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:ncclTopoFillNet: parent is NULL even after fallback for} {...}",
       .example = "ncclTopoFillNet: parent is NULL even after fallback for mlx5_0"},
      {.text = "TOPO/NET : {text:Can't find busId of child 0|Couldn't generate unique busId after} "
               "{...}",
       .example = "TOPO/NET : Can't find busId of child 0 mlx5_0",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Virtual devices of the InfiniBand transport (net_ib/init.cc, 2.24.3 and later).
struct VirtualNicFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "virtual_nic_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "A fused or virtual NIC was asked for that does not exist or cannot be made. Check "
      "NCCL_NET_FORCE_MERGE and plugins that name devices."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {text:Can't make virtual NIC with 0 devices}",
       .example = "NET/IB : Can't make virtual NIC with 0 devices",
       .quotable = true},
      {.text =
           "NET/IB : {text:Cannot allocate any more virtual devices|Cannot use physical "
           "device|Requested properties for GIN GDAKI NIC|Requested properties for vNic|Trying to "
           "use non-existant virtual device|Trying to use non-existent virtual device} {...}",
       .example = "NET/IB : Cannot allocate any more virtual devices (3)",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Fused NICs of the two ends differ (net_ib.cc, 2.20.3 to 2.23.4).
struct MergedNicsDiffer {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "merged_nics_differ";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "The fused NICs of the two ends have different numbers of ports, so traffic is spread "
      "unevenly. Look for a failed port, and at NCCL_IB_MERGE_NICS on both hosts."};
  static constexpr Wording kWordings[] = {
      {.text = "NET/IB : {text:Local mergedDev} {...}",
       .example =
           "NET/IB : Local mergedDev mlx5_0 has a different number of devices=3 as remote mlx5_0 3",
       .quotable = true},
      {.text = "NET/IB : {text:Local} mergedDev={} has a different number of devices={:int} as "
               "remoteDev={} nRemDevs={:int}",
       .example = "NET/IB : Local mergedDev=mlx5_0 has a different number of devices=3 as "
                  "remoteDev=mlx5_0 nRemDevs=3",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using NicMergeMessages =
    Kinds<NicMergeFailed, VirtualNicUnplaced, VirtualNicFailed, MergedNicsDiffer>;

}  // namespace ncclog
