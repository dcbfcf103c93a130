// The life of a communicator: started, complete, split, destroyed, aborted.
//
//   ncclCommInitRankConfig comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId a1000
//   commId 0x9c1b2f0a77d01e55 - Init START
//
// "comm 0x…" is a pointer: it names a communicator inside one process only, and comes back after it
// was freed. "commId" is the same on all ranks. Ranks count inside the communicator.

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A communicator's initialisation began or was completed on this rank (init.cc).
/// START exists since 2.18.3. A communicator made by split carries no commId since 2.23.4: it
/// is known by parent pointer, count and color.
struct CommInit {
  std::string_view function;  ///< API name since 2.21, e.g. "ncclCommInitRank"; empty before.
  Hex comm;                   ///< Pointer: means something inside one process only, and comes back.
  int rank = -1;
  int nranks = -1;
  int cuda_dev = -1;
  int nvml_dev = -1;        ///< Physical GPU index; -1 where the release does not print it.
  std::string_view bus_id;  ///< Hexadecimal without 0x: "a1000"; empty if not printed.
  Hex comm_id;              ///< The same on all ranks of a communicator; 0 = not printed.
  Hex parent;               ///< Pointer of the parent in the same process; 0 = not a child.
  int child_count = -1;     ///< Ordinal of the child ("splitCount" to 2.28); -1 = not printed.
  int color = -1;
  int key = -1;
  std::string_view phase;  ///< "START" or "COMPLETE".

  static constexpr std::string_view kKind = "comm_init";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} commId {comm_id} - Init {phase:START|COMPLETE}",
       .example = "ncclCommInitRankConfig comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId "
                  "a1000 commId 0x9c1b2f0a77d01e55 - Init START"},
      // 2.29.2 and later, START only.
      {.text = "[Rank {:int}] {function:word} comm {comm} rank {rank} nranks {nranks} cudaDev "
               "{cuda_dev} nvmlDev {nvml_dev} busId {bus_id:hex} commId {comm_id} - Init "
               "{phase:START|COMPLETE}",
       .example = "[Rank 3] ncclCommInitRank comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 "
                  "busId a1000 commId 0x9c1b2f0a77d01e55 - Init START"},
      // Children: START has no blank before the dash.
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} parent {parent} {:splitCount|childCount} "
               "{child_count} color {color} key {key}- Init {phase:START|COMPLETE}",
       .example = "ncclCommSplit comm 0x7f20b0 rank 1 nranks 8 cudaDev 3 nvmlDev 3 busId a1000 "
                  "parent 0x7f10a0 splitCount 1 color 1 key 3- Init START"},
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} parent {parent} {:splitCount|childCount} "
               "{child_count} color {color} key {key} - Init {phase:START|COMPLETE}",
       .example = "ncclCommShrink comm 0x7f20b0 rank 1 nranks 7 cudaDev 3 nvmlDev 3 busId a1000 "
                  "parent 0x7f10a0 childCount 2 color 1 key 3 - Init COMPLETE"},
      // 2.23.4.
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} parent {parent} color {color} key {key}- Init "
               "{phase:START|COMPLETE}",
       .example = "ncclCommSplit comm 0x7f20b0 rank 1 nranks 8 cudaDev 3 nvmlDev 3 busId a1000 "
                  "parent 0x7f10a0 color 1 key 3- Init START"},
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} parent {parent} color {color} key {key} - Init "
               "{phase:START|COMPLETE}",
       .example = "ncclCommSplit comm 0x7f20b0 rank 1 nranks 8 cudaDev 3 nvmlDev 3 busId a1000 "
                  "parent 0x7f10a0 color 1 key 3 - Init COMPLETE"},
      // 2.21.5 and 2.22.3.
      {.text = "{function:word} comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev "
               "{nvml_dev} busId {bus_id:hex} parent {parent} color {color} key {key} commId "
               "{comm_id} - Init {phase:START|COMPLETE}",
       .example = "ncclCommSplit comm 0x7f20b0 rank 1 nranks 8 cudaDev 3 nvmlDev 3 busId a1000 "
                  "parent 0x7f10a0 color 1 key 3 commId 0x51aa90b3c4d5e6f7 - Init START"},
      // 2.18.3 to 2.20.5.
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev {nvml_dev} "
               "busId {bus_id:hex} commId {comm_id} - Init {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId a1000 commId "
                  "0x9c1b2f0a77d01e55 - Init COMPLETE"},
      // 2.16.2 to 2.18.1.
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} busId {bus_id:hex} "
               "commId {comm_id} - Init {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 busId a1000 commId 0x9c1b2f0a77d01e55 "
                  "- Init COMPLETE"},
      // 2.5.6 to 2.15.5.
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} busId {bus_id:hex} - "
               "Init {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 busId a1000 - Init COMPLETE"},
      // 2.4.
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev {nvml_dev} - "
               "Init {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3 - Init COMPLETE"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("cuda_dev", self.cuda_dev);
    visit("nvml_dev", self.nvml_dev);
    visit("bus_id", self.bus_id);
    visit("comm_id", self.comm_id);
    visit("parent", self.parent);
    visit("child_count", self.child_count);
    visit("color", self.color);
    visit("key", self.key);
    visit("phase", self.phase);
  }
};

/// NCCL 2.4.2's way to say that a communicator's initialisation began (init.cu).
struct CommRankStarted {
  Hex comm;
  int rank = -1;
  int nranks = -1;
  int cuda_dev = -1;
  int nvml_dev = -1;

  static constexpr std::string_view kKind = "comm_announced";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} nvmlDev {nvml_dev}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 nvmlDev 3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("cuda_dev", self.cuda_dev);
    visit("nvml_dev", self.nvml_dev);
  }
};

/// A communicator was destroyed, aborted or revoked on this rank (init.cc, 2.12.7 and later).
/// From 2.30.3 on in subsystem DESTROY, so absent from default output: a missing line proves
/// nothing.
struct CommEnd {
  Hex comm;
  int rank = -1;
  int nranks = -1;
  int cuda_dev = -1;
  std::string_view bus_id;  ///< Hexadecimal without 0x; empty in 2.4.2.
  std::string_view action;  ///< "Destroy", "Abort" or "Revoke".
  std::string_view phase;   ///< "START" or "COMPLETE"; empty in 2.4.2.

  static constexpr std::string_view kKind = "comm_end";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Destroy;
  static constexpr Wording kWordings[] = {
      {.text = "comm {comm} rank {rank} nranks {nranks} cudaDev {cuda_dev} busId {bus_id:hex} - "
               "{action:Destroy|Abort|Revoke} {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nranks 16 cudaDev 3 busId a1000 - Destroy COMPLETE"},
      {.text = "comm {comm} rank {rank} nRanks {nranks} cudaDev {cuda_dev} busId {bus_id:hex} - "
               "{action:Destroy|Abort|Revoke} {phase:START|COMPLETE}",
       .example = "comm 0x7f10a0 rank 3 nRanks 16 cudaDev 3 busId a1000 - Abort START"},
      {.text = "comm {comm} rank {rank} nRanks {nranks} cudaDev {cuda_dev} busId {bus_id:hex} - "
               "{action:Revoke} {phase:COMPLETE}, result {:int}",
       .example =
           "comm 0x7f10a0 rank 3 nRanks 16 cudaDev 3 busId a1000 - Revoke COMPLETE, result 0"},
      // 2.4.2.
      {.text = "{action:Destroy}ed comm {comm} rank {rank}",
       .example = "Destroyed comm 0x7f10a0 rank 3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("cuda_dev", self.cuda_dev);
    visit("bus_id", self.bus_id);
    visit("action", self.action);
    visit("phase", self.phase);
  }
};

/// The background job of ncclCommRevoke began or ended (init.cc, 2.28.7 and later).
struct CommRevokeAsync {
  std::string_view phase;  ///< "START" or "END".
  Hex comm;
  int rank = -1;  ///< -1 at the end.
  int nranks = -1;
  int result = -1;  ///< ncclResult_t at the end; -1 at the start.

  static constexpr std::string_view kKind = "comm_revoke_async";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Destroy;
  static constexpr Wording kWordings[] = {
      {.text = "CommRevokeAsync {phase:START} comm {comm} rank {rank} nRanks {nranks} nNodes "
               "{:int} localRank {:int} cudaDev {:int}",
       .example =
           "CommRevokeAsync START comm 0x7f10a0 rank 3 nRanks 16 nNodes 2 localRank 3 cudaDev 3"},
      {.text = "CommRevokeAsync {phase:END} comm {comm} result {result}",
       .example = "CommRevokeAsync END comm 0x7f10a0 result 0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("result", self.result);
  }
};

/// How a communicator lies over nodes (init.cc, 2.20.3 and later).
struct CommLayout {
  Hex comm;
  int rank = -1;
  int nranks = -1;
  int nnodes = -1;
  int local_ranks = -1;  ///< Ranks of this communicator on this node.
  int local_rank = -1;
  int mnnvl = -1;  ///< 1 if NVLink reaches over several nodes.

  static constexpr std::string_view kKind = "comm_layout";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "comm {comm} rank {rank} nRanks {nranks} nNodes {nnodes} localRanks {local_ranks} "
               "localRank {local_rank} MNNVL {mnnvl}",
       .example = "comm 0x7f10a0 rank 3 nRanks 16 nNodes 2 localRanks 8 localRank 3 MNNVL 0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("comm", self.comm);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("nnodes", self.nnodes);
    visit("local_ranks", self.local_ranks);
    visit("local_rank", self.local_rank);
    visit("mnnvl", self.mnnvl);
  }
};

/// How long the parts of an initialisation took (init.cc, 2.22.3 and later).
struct InitTimings {
  std::string_view function;  ///< API name since 2.23.4; empty before.
  int rank = -1;
  int nranks = -1;
  std::string_view total;    ///< Seconds, two decimals.
  std::string_view timings;  ///< "kernels 0.33, alloc 0.11, …" in seconds.

  static constexpr std::string_view kKind = "init_timings";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Init timings - {function:word}: rank {rank} nranks {nranks} total {total:word} "
               "({timings})",
       .example =
           "Init timings - ncclCommInitRank: rank 0 nranks 2 total 1.11 (kernels 0.33, alloc 0.11, "
           "bootstrap 0.22, allgathers 0.02, topo 0.22, graphs 0.06, connections 0.09, rest 0.06)"},
      {.text = "Init timings: rank {rank} nranks {nranks} total {total:word} ({timings})",
       .example = "Init timings: rank 0 nranks 2 total 1.11 (kernels 0.33, bootstrap 0.22, "
                  "allgathers 0.02, topo 0.22, graphs 0.06, connections 0.09, rest 0.06)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("function", self.function);
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("total", self.total);
    visit("timings", self.timings);
  }
};

/// Connecting the peers of point-to-point operations took more than a second (transport.cc,
/// 2.22.3 and later).
struct ConnectTimings {
  int rank = -1;
  int nranks = -1;
  std::string_view seconds;

  static constexpr std::string_view kKind = "connect_timings";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "timings: rank {rank} nranks {nranks} P2p connect done in {seconds:word}",
       .example = "timings: rank 3 nranks 16 P2p connect done in 4.15"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("nranks", self.nranks);
    visit("seconds", self.seconds);
  }
};

/// The size of the communicator that begins, in 2.4 (init.cc).
struct NranksAnnounced {
  int nranks = -1;

  static constexpr std::string_view kKind = "nranks_announced";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "nranks {nranks}", .example = "nranks 4"},
  };
  static void each_field(auto& self, auto&& visit) { visit("nranks", self.nranks); }
};

/// All channels' rings have their connections on this rank (transport/generic.cc).
/// Since 2.22.3 connections are made at the first use of an algorithm, so the line may come
/// after Init COMPLETE, or never.
struct RingsConnected {
  std::string_view text;  ///< "use ring PXN 0 GDR 1" since 2.24.3; empty before.

  static constexpr std::string_view kKind = "rings_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Connected all rings, {text...}",
       .example = "Connected all rings, use ring PXN 0 GDR 1"},
      {.text = "Connected all rings", .example = "Connected all rings"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// All channels' trees have their connections on this rank (transport/generic.cc).
struct TreesConnected {
  static constexpr std::string_view kKind = "trees_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Connected all trees", .example = "Connected all trees"},
  };
  static void each_field(auto&, auto&&) {}
};

/// The connections of the PAT algorithm are made (transport/generic.cc, 2.23.4 and later).
struct BinomialTreesConnected {
  static constexpr std::string_view kKind = "binomial_trees_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Connected binomial trees", .example = "Connected binomial trees"},
  };
  static void each_field(auto&, auto&&) {}
};

/// The network connections between NVLS heads are made (transport/nvls.cc, 2.18.1 and later).
struct NvlsTreeConnected {
  static constexpr std::string_view kKind = "nvls_tree_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Connected NVLS tree", .example = "Connected NVLS tree"},
  };
  static void each_field(auto&, auto&&) {}
};

/// CollNet is connected on this rank (transport/coll_net.cc).
struct CollnetConnected {
  int rank = -1;          ///< -1 if not printed.
  std::string_view text;  ///< The chains, "[0] 1->0->-1 …"; empty if not printed.

  static constexpr std::string_view kKind = "collnet_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "rank {rank} Connected CollNet", .example = "rank 3 Connected CollNet"},
      {.text = "Connected Collnet Chains {text...}",
       .example = "Connected Collnet Chains [0] 1->0->-1 [1] 1->0->-1"},
      {.text = "Collnet Chains {text...}", .example = "Collnet Chains [0] 1->0->-1 [1] 1->0->-1"},
      {.text = "Connected collnet + chain", .example = "Connected collnet + chain"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("text", self.text);
  }
};

/// This rank takes no part in a split (init.cc, 2.18.1 and later).
struct SplitNocolor {
  int rank = -1;  ///< Of the parent.

  static constexpr std::string_view kKind = "split_nocolor";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Rank {rank} has color with NCCL_SPLIT_NOCOLOR, not creating a new communicator",
       .example = "Rank 3 has color with NCCL_SPLIT_NOCOLOR, not creating a new communicator"},
  };
  static void each_field(auto& self, auto&& visit) { visit("rank", self.rank); }
};

/// Ranks are added to a communicator (init.cc, 2.29.2 and later).
struct CommGrow {
  std::string_view text;

  static constexpr std::string_view kKind = "comm_grow";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "ncclCommGrow: {text:word} rank creating new communicator with {:int} total "
               "ranks",
       .example = "ncclCommGrow: new rank creating new communicator with 17 total ranks"},
      {.text =
           "Rank {:int}: Generated commHash {text:word} from baseMagic {:hex} and newNRanks {:int}",
       .example =
           "Rank 3: Generated commHash 0x9c1b2f0a from baseMagic 0x51aa90b3 and newNRanks 17"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// A communicator's memory is released or taken back (mem_manager.cc, 2.29.7 and later).
struct CommSuspend {
  int rank = -1;

  static constexpr std::string_view kKind = "comm_suspend";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "ncclCommSuspend: rank {rank} suspending memory",
       .example = "ncclCommSuspend: rank 3 suspending memory"},
      {.text = "ncclCommResume: rank {rank} resuming all resources",
       .example = "ncclCommResume: rank 3 resuming all resources"},
  };
  static void each_field(auto& self, auto&& visit) { visit("rank", self.rank); }
};

/// How kernels of several GPUs of one process are launched (enqueue.cc, up to 2.12).
struct LaunchMode {
  std::string_view mode;  ///< "Parallel", "Group/CGMD", "Group/CGMD/Stream".

  static constexpr std::string_view kKind = "launch_mode";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Launch mode {mode...}", .example = "Launch mode Group/CGMD"},
  };
  static void each_field(auto& self, auto&& visit) { visit("mode", self.mode); }
};

using LifecycleMessages =
    Kinds<CommInit, CommRankStarted, CommEnd, CommRevokeAsync, CommLayout, InitTimings,
          ConnectTimings, NranksAnnounced, RingsConnected, TreesConnected, BinomialTreesConnected,
          NvlsTreeConnected, CollnetConnected, SplitNocolor, CommGrow, CommSuspend, LaunchMode>;

}  // namespace ncclog
