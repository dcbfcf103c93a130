// Plans that cannot be made: order of transfers, CUDA graphs, kernels that do not fit, the rings of
// NCCL 2.4.
//
//   Group creation failed: 3 vs 4

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// No plan for an operation could be made (enqueue.cc, scheduler/*.cc, init.cc).
struct ScheduleFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "schedule_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "NCCL's planner reached a case that its own code rules out, so the call returns an internal "
      "error. Look for an earlier error, memory corruption or an NCCL bug."};
  static constexpr Warning kNoP2pOrder{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The order of point-to-point transfers cannot be laid out for these nodes, so initialisation "
      "fails. Check NCCL_P2P_SCHEDULE_GROUP_SIZE and that all nodes have equally many ranks."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Recursive P2P computation cannot work for >8 GPUs|Sendrecv plan not aligned "
               "for self|Sendrecv schedule not aligned for self}",
       .example = "Recursive P2P computation cannot work for >8 GPUs"},
      {.text = "{text:Invalid intra-node rank|Invalid regBufType|Net registration invalid "
               "algorithm|Unknown collective|Unknown collnet pattern|Unknown pattern|Hierarchical "
               "CE collective not supported for|ncclSymmetricTaskScheduler ran out of channel "
               "space} {...}",
       .example = "Invalid intra-node rank 3 for peer 3"},
      {.text = "{text:P2p schedule creation has bugs.}",
       .example = "P2p schedule creation has bugs.",
       .warning = kNoP2pOrder},
      {.text = "{text:Group creation failed:|nLocals =} {...}",
       .example = "Group creation failed: 3 vs 3",
       .warning = kNoP2pOrder},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Ranks that share a host or a process cannot be told apart (init.cc).
struct LocalRanksFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "local_ranks_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NCCL cannot tell which ranks share this host or process, because their host and process "
      "hashes contradict each other. Compare NCCL_HOSTID on all ranks."};
  static constexpr Wording kWordings[] = {
      {.text =
           "{text:Failed to determine intra node ranks rank|Failed to determine intra proc ranks "
           "rank|Failed to determine intra ranks|Failed to determine local ranks rank} {...}",
       .example = "Failed to determine intra node ranks rank 3 hostHash 1a2b pidHash 1a2b "
                  "intraNodeRank 3 intraNodeRanks 3 intraNodeRank0 3"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Calls are being captured in a CUDA graph: they are logged now, and run whenever the graph does
/// (enqueue.cc; COLL, 2.9.6 to 2.12).
struct CallsCaptured {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "calls_captured";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Coll;
  static constexpr Wording kWordings[] = {
      {.text = "{text:stream is being captured by a new graph, id} {...}",
       .example = "stream is being captured by a new graph, id 7"},
      {.text = "{text:CUDA Graph helper thread created for device|CUDA Graph helper thread for "
               "device} {...}",
       .example = "CUDA Graph helper thread created for device 0"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// CUDA graphs and NCCL calls do not go together here (enqueue.cc, misc/strongstream.cc).
struct GraphCaptureFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "graph_capture_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::None;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::Internal,
      "The capture of a CUDA graph lost track of its streams or helper thread, so the captured "
      "call fails. Look for an earlier CUDA error."};
  static constexpr Warning kDriverTooOld{
      WarnSeverity::Fatal, WarnOrigin::User,
      "CUDA graphs cannot capture NCCL calls with this driver or CUDA build. Update the driver to "
      "R465 or later, or keep the calls out of the capture."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:CUDA Graph helper resource is null|Stream is not being captured by the "
               "expected graph.}",
       .example = "CUDA Graph helper resource is null"},
      {.text = "{text:Expected graph} id={:int} was not at head {...}",
       .example = "Expected graph id=12 was not at head of strong stream's internal list."},
      {.text = "{text:Failure in host setup :} {...}",
       .example = "Failure in host setup : unhandled cuda error"},
      {.text = "{text:NCCL does not support this CUDA version for CUDA graph feature|The installed "
               "CUDA driver is older than the minimum version (R465) required for NCCL's CUDA "
               "Graphs support}",
       .example = "NCCL does not support this CUDA version for CUDA graph feature",
       .warning = kDriverTooOld},
      {.text = "{text:NCCL cannot be captured in a graph} if {...}",
       .example = "NCCL cannot be captured in a graph if either it wasn't built with CUDA runtime "
                  ">= 11.3 or if the installed CUDA driver < R465.",
       .quotable = true,
       .warning = kDriverTooOld},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// NCCL's kernels do not fit this GPU (enqueue.cc, 2.26.2 and later).
struct KernelDoesNotFit {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "kernel_does_not_fit";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "NCCL's kernels need more shared memory than this GPU offers. The library was built for "
      "other architectures, or MPS limits the GPU."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:cudaArch} {:int} dynamic smem {:int} exceeds device/fn maxSharedMem {:int}",
       .example = "cudaArch 3 dynamic smem 3 exceeds device/fn maxSharedMem 3"},
      {.text =
           "{text:cudaArch} {:int} ncclMaxSharedMem {:int} exceeds device/fn maxSharedMem {:int}",
       .example = "cudaArch 3 ncclMaxSharedMem 3 exceeds device/fn maxSharedMem 12"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// Rings of NCCL 2.4, which had no graph search (transport/p2p.cc, transport/shm.cc,
/// transport/net.cc).
struct RingConnectFailed {
  std::string_view text;  ///< NCCL's words, up to the first value.

  static constexpr std::string_view kKind = "ring_connect_failed";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Degraded, WarnOrigin::System,
      "NCCL 2.4 could not join its rings as planned and uses fewer of them, so collectives run "
      "slower. Look at NVLink and PCI of the hosts."};
  static constexpr Warning kNoDevice{
      WarnSeverity::Fatal, WarnOrigin::System,
      "The network offers no device, or the GPU's number exceeds the table of NCCL 2.4, so no path "
      "can be chosen. Check the plugin and the visible GPUs."};
  static constexpr Wording kWordings[] = {
      {.text = "{text:Connecting ring} {:int} : {:did not find|inconsistent} start/end. {...}",
       .example = "Connecting ring 3 : did not find start/end. Disabling other rings."},
      {.text = "{text:Connecting rings but did not find start/end for ring|Max rings reached, "
               "limiting to} {...}",
       .example = "Connecting rings but did not find start/end for ring 3. Disabling other rings."},
      {.text = "{text:Internal error : NVswitch links mismatch|Multiple ends found in "
               "group|Multiple starts found in group}",
       .example = "Internal error : NVswitch links mismatch",
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "The search for rings of NCCL 2.4 met a state that cannot be, so initialisation "
                   "fails. Later releases search in another way."}},
      {.text = "Error : {text:Network returned 0 device}",
       .example = "Error : Network returned 0 device",
       .warning = kNoDevice},
      {.text = "{text:CUDA device} {:int} >= MAX {:int}",
       .example = "CUDA device 3 >= MAX 3",
       .warning = kNoDevice},
      {.text = "{text:Unknown device error} {...}",
       .example = "Unknown device error 3",
       .warning = {WarnSeverity::Fatal, WarnOrigin::Internal,
                   "The GPU code of an old release reported an error number that the host code "
                   "does not know. Suspect memory corruption."}},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using SchedulingMessages = Kinds<ScheduleFailed, LocalRanksFailed, CallsCaptured,
                                 GraphCaptureFailed, KernelDoesNotFit, RingConnectFailed>;

}  // namespace ncclog
