// NVLink SHARP, NVLink over several nodes, and CollNet: how they are laid out.
//
//   NVLS comm 0x7f10a0 headRank 0 nHeads 8 nvlsRanks 8 buffSize 1048576 nvlsPerRankSize 201326592
//   nvlsTotalSize 1610612736
//   MNNVL busId 0xa1000 fabric UUID 12ab.34cd cliqueId 0x7ffe state 3 healthMask 0x0
//
// Absent lines prove nothing: GRAPH and NVLS are off by default.

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// The sizes of the multicast buffers of a communicator (transport/nvls.cc, 2.17.1 and later).
struct NvlsComm {
  Hex comm;
  int head_rank = -1;   ///< This rank among the heads; -1: it is none. In 2.17.1 the rank itself.
  int heads = -1;       ///< In 2.17.1 the number of ranks.
  int nvls_ranks = -1;  ///< -1 up to 2.26.
  int64_t buff_size = -1;  ///< Bytes, like the other sizes.
  int64_t mem_size = -1;   ///< -1 from 2.22.3 on.
  int64_t per_rank_size = -1;
  int64_t total_size = -1;

  static constexpr std::string_view kKind = "nvls_comm";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS comm {comm} headRank {head_rank} nHeads {heads} nvlsRanks {nvls_ranks} "
               "buffSize {buff_size} nvlsPerRankSize {per_rank_size} nvlsTotalSize {total_size}",
       .example = "NVLS comm 0x7f10a0 headRank 0 nHeads 8 nvlsRanks 8 buffSize 1048576 "
                  "nvlsPerRankSize 201326592 nvlsTotalSize 1610612736"},
      {.text = "NVLS comm {comm} headRank {head_rank} nHeads {heads} buffSize {buff_size} "
               "nvlsPerRankSize {per_rank_size} nvlsTotalSize {total_size}",
       .example = "NVLS comm 0x7f10a0 headRank 0 nHeads 8 buffSize 1048576 nvlsPerRankSize "
                  "201326592 nvlsTotalSize 1610612736"},
      {.text = "NVLS comm {comm} headRank {head_rank} nHeads {heads} buffSize {buff_size} memSize "
               "{mem_size} nvlsPerRankSize {per_rank_size} nvlsTotalSize {total_size}",
       .example = "NVLS comm 0x7f10a0 headRank 0 nHeads 8 buffSize 1048576 memSize 2097152 "
                  "nvlsPerRankSize 201326592 nvlsTotalSize 1610612736"},
      {.text = "NVLS comm {comm} rank {head_rank} nranks {heads} buffSize {buff_size} memSize "
               "{mem_size} nvlsPerRankSize {per_rank_size} nvlsTotalSize {total_size}",
       .example = "NVLS comm 0x7f10a0 rank 3 nranks 8 buffSize 1048576 memSize 2097152 "
                  "nvlsPerRankSize 201326592 nvlsTotalSize 1610612736"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("comm", self.comm);
    visit("head_rank", self.head_rank);
    visit("heads", self.heads);
    visit("nvls_ranks", self.nvls_ranks);
    visit("buff_size", self.buff_size);
    visit("mem_size", self.mem_size);
    visit("per_rank_size", self.per_rank_size);
    visit("total_size", self.total_size);
  }
};

/// The ranks that are one head of the multicast groups, one per node, at most 20 (init.cc, 2.18.1
/// and later; ranks of node 0 of jobs on several nodes).
struct NvlsHead {
  int head = -1;
  std::string_view ranks;  ///< Separated by blanks.

  static constexpr std::string_view kKind = "nvls_head";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS Head {head}: {ranks:ints}", .example = "NVLS Head 10: 10 18"},
      // The number is padded to two columns.
      {.text = "NVLS Head  {head}: {ranks:ints}", .example = "NVLS Head  0:  0  8"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("head", self.head);
    visit("ranks", self.ranks);
  }
};

/// This rank's place in the two trees between nodes (graph/connect.cc, 2.18.1 and later).
struct NvlsTrees {
  std::string_view first;  ///< "down/down/down->rank->up"; two downs up to 2.20.5.
  std::string_view second;

  static constexpr std::string_view kKind = "nvls_trees";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS Trees : {first:word} {second:word}",
       .example = "NVLS Trees : 8/-1/-1->0->-1 8/-1/-1->0->-1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("first", self.first);
    visit("second", self.second);
  }
};

/// Channels and chunks of NVLink SHARP (init.cc, 2.30.3 and later).
struct NvlsTuning {
  int channels = -1;
  int64_t chunk_size = -1;           ///< Bytes.
  int64_t tree_max_chunk_size = -1;  ///< Bytes.

  static constexpr std::string_view kKind = "nvls_tuning";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS tuning: nChannels {channels} chunkSize {chunk_size} treeMaxChunkSize "
               "{tree_max_chunk_size}",
       .example = "NVLS tuning: nChannels 16 chunkSize 131072 treeMaxChunkSize 65536"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channels", self.channels);
    visit("chunk_size", self.chunk_size);
    visit("tree_max_chunk_size", self.tree_max_chunk_size);
  }
};

/// A multicast group is made on one rank for all of a node (transport/nvls.cc).
struct NvlsGroup {
  std::string_view phase;  ///< "Creating" or "Created".
  int nranks = -1;
  int64_t size = -1;  ///< Bytes.
  int rank = -1;

  static constexpr std::string_view kKind = "nvls_group";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS {phase:Creating} Multicast group nranks {nranks} size {size} on rank {rank}",
       .example = "NVLS Creating Multicast group nranks 8 size 536870912 on rank 0"},
      {.text =
           "NVLS {phase:Created} Multicast group {:hex} nranks {nranks} size {size} on rank {rank}",
       .example = "NVLS Created Multicast group 7f21e0 nranks 8 size 536870912 on rank 0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("phase", self.phase);
    visit("nranks", self.nranks);
    visit("size", self.size);
    visit("rank", self.rank);
  }
};

/// What the driver says of a GPU's NVLink fabric (init.cc, 2.20.3 and later).
struct MnnvlFabric {
  Hex bus_id;
  std::string_view uuid;  ///< "12ab.34cd"; "0.0": the GPU belongs to no fabric.
  Hex clique_id;
  int state = -1;  ///< 3: the fabric is complete.
  Hex health_mask;

  static constexpr std::string_view kKind = "mnnvl_fabric";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "MNNVL busId {bus_id} fabric UUID {uuid:word} cliqueId {clique_id} state {state} "
               "healthMask {health_mask}",
       .example =
           "MNNVL busId 0xa1000 fabric UUID 12ab.34cd cliqueId 0x7ffe state 3 healthMask 0x0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("bus_id", self.bus_id);
    visit("uuid", self.uuid);
    visit("clique_id", self.clique_id);
    visit("state", self.state);
    visit("health_mask", self.health_mask);
  }
};

/// The ranks that NVLink connects over several nodes (init.cc, 2.21.5 and later; only where it is
/// used from 2.25.1 on).
struct MnnvlClique {
  int mnnvl = -1;  ///< 1 if it is used.
  Hex clique_id;
  int size = -1;
  int rank = -1;             ///< Of this process in the clique.
  int nvl_domain_size = -1;  ///< -1 up to 2.29.

  static constexpr std::string_view kKind = "mnnvl_clique";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "MNNVL {mnnvl} cliqueId {clique_id} cliqueSize {size} cliqueRank {rank}",
       .example = "MNNVL 1 cliqueId 7ffe cliqueSize 18 cliqueRank 3"},
      {.text = "MNNVL {mnnvl} cliqueId {clique_id} cliqueSize {size} cliqueRank {rank} "
               "nvlDomainSize {nvl_domain_size}",
       .example = "MNNVL 1 cliqueId 7ffe cliqueSize 18 cliqueRank 3 nvlDomainSize 36"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("mnnvl", self.mnnvl);
    visit("clique_id", self.clique_id);
    visit("size", self.size);
    visit("rank", self.rank);
    visit("nvl_domain_size", self.nvl_domain_size);
  }
};

/// Where the GPU is in its rack (init.cc, 2.28.3 and later).
struct MnnvlRack {
  std::string_view serial;
  int slot = -1;
  int tray = -1;
  int host_id = -1;
  int peer_type = -1;
  int module_id = -1;

  static constexpr std::string_view kKind = "mnnvl_rack";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "MNNVL rack serial {serial} slot {slot} tray {tray} hostId {host_id} peerType "
               "{peer_type} moduleId {module_id}",
       .example = "MNNVL rack serial 0 slot 3 tray 1 hostId 1 peerType 1 moduleId 2"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("serial", self.serial);
    visit("slot", self.slot);
    visit("tray", self.tray);
    visit("host_id", self.host_id);
    visit("peer_type", self.peer_type);
    visit("module_id", self.module_id);
  }
};

/// Cliques of one NVLink domain reach each other directly (init.cc, 2.30.3 and later).
struct CrossClique {
  int nvl_domain_size = -1;
  int clique_size = -1;

  static constexpr std::string_view kKind = "cross_clique";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "Cross-clique P2P enabled: nvlDomainSize={nvl_domain_size} cliqueSize={clique_size}",
       .example = "Cross-clique P2P enabled: nvlDomainSize=36 cliqueSize=18"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("nvl_domain_size", self.nvl_domain_size);
    visit("clique_size", self.clique_size);
  }
};

/// Too few nodes for CollNet (init.cc, 2.9.9 and later).
struct CollnetThreshold {
  int nodes = -1;
  int threshold = -1;

  static constexpr std::string_view kKind = "collnet_threshold";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Communicator has {nodes} nodes which is less than CollNet node threshold "
               "{threshold}, disabling CollNet",
       .example = "Communicator has 2 nodes which is less than CollNet node threshold 3, disabling "
                  "CollNet"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("nodes", self.nodes);
    visit("threshold", self.threshold);
  }
};

/// A rank's place in one CollNet channel (graph/connect.cc).
struct CollnetChannel {
  int channel = -1;
  int rank = -1;
  std::string_view
      up;  ///< Ranks separated by blanks, "" if none; from 2.9 on all that follow "down".
  std::string_view down;  ///< Ranks separated by blanks.
  int heads = -1;         ///< -1 up to 2.8, like what follows.
  int head_rank = -1;
  int out = -1;
  int shift = -1;

  static constexpr std::string_view kKind = "collnet_channel";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{:CollNet|CollNetDirect} channel {channel} rank {rank} down{down}nDown {:int} "
               "up{up}nUp {:int} nHeads {heads} headRank {head_rank} out {out} shift {shift}",
       .example = "CollNetDirect channel 0 rank 3 down 0 1 nDown 2 up 3 nUp 1 nHeads 2 headRank 0 "
                  "out 0 shift 1"},
      // 2.6 to 2.8.
      {.text = "CollNet Channel {channel} rank {rank} up {up:int} down {down:int}",
       .example = "CollNet Channel 0 rank 3 up 4 down 2"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("rank", self.rank);
    visit("up", self.up);
    visit("down", self.down);
    visit("heads", self.heads);
    visit("head_rank", self.head_rank);
    visit("out", self.out);
    visit("shift", self.shift);
  }
};

using NvlsMessages = Kinds<NvlsComm, NvlsHead, NvlsTrees, NvlsTuning, NvlsGroup, MnnvlFabric,
                           MnnvlClique, MnnvlRack, CrossClique, CollnetThreshold, CollnetChannel>;

}  // namespace ncclog
