// How ranks reach each other: what NCCL prints while it connects its channels.
//
//   node07:4121:4188 [3] NCCL INFO Channel 00/0 : 3[3] -> 4[4] via P2P/IPC
//   node07:4121:4188 [3] NCCL INFO Ring 00 : 15 -> 0 -> 1

#pragma once

#include <cstdint>
#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A channel has a path from one rank to another (transport.cc and transport/*.cc).
/// Both ends announce a network path, only the sender announces P2P and SHM. So count
/// connections by (channel, src_rank, dst_rank), never by lines.
struct ChannelConnected {
  int channel = -1;
  int index = -1;  ///< 0 collectives, 1 point-to-point; -1 for SHM and in old releases.
  int src_rank = -1;
  int dst_rank = -1;
  /// Physical GPU index; its bus id from 2.5.6 to 2.18.1, by transport in 2.4. Empty if not
  /// printed.
  std::string_view src_dev;
  std::string_view dst_dev;
  std::string_view direction;  ///< "send" or "receive" on network paths, else empty.
  /// As printed after "via": "P2P/CUMEM", "SHM/direct", "NET/IB/0/GDRDMA".
  std::string_view path;

  static constexpr std::string_view kKind = "channel_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Channel {channel}/{index} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] "
               "[{direction:send|receive}] via {path...}",
       .example = "Channel 03/0 : 5[5] -> 8[0] [send] via NET/IB/2/GDRDMA"},
      {.text = "Channel {channel}/{index} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] via "
               "{path...}",
       .example = "Channel 00/0 : 2[2] -> 3[3] via P2P/CUMEM",
       .general = true},
      // SHM in every release, all paths up to 2.11.
      {.text = "Channel {channel} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] "
               "[{direction:send|receive}] "
               "via {path...}",
       .example = "Channel 01 : 7[b2000] -> 8[1a000] [send] via NET/IB/0/GDRDMA"},
      {.text = "Channel {channel} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] via {path...}",
       .example = "Channel 01 : 0[1a000] -> 1[1b000] via SHM/direct/direct",
       .general = true},
      // 2.4 to 2.6.
      {.text = "Ring {channel} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] "
               "[{direction:send|receive}] via "
               "{path...}",
       .example = "Ring 00 : 7[7] -> 8[0] [receive] via NET/Socket/0"},
      {.text = "Ring {channel} : {src_rank}[{src_dev}] -> {dst_rank}[{dst_dev}] via {path...}",
       .example = "Ring 00 : 0[0] -> 1[1] via P2P/direct pointer",
       .general = true},
      {.text = "Ring {channel} : {src_rank} -> {dst_rank} [{direction:send|receive}] via {path...}",
       .example = "Ring 00 : 1 -> 2 [send] via NET/Socket/0"},
      {.text = "Ring {channel} : {src_rank} -> {dst_rank} via {path...}",
       .example = "Ring 00 : 0 -> 1 via P2P/common device"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("index", self.index);
    visit("src_rank", self.src_rank);
    visit("dst_rank", self.dst_rank);
    visit("src_dev", self.src_dev);
    visit("dst_dev", self.dst_dev);
    visit("direction", self.direction);
    visit("path", self.path);
  }
};

/// A channel is connected to the in-network reduction (transport/coll_net.cc).
struct CollnetChannelConnected {
  int channel = -1;
  int rank = -1;
  std::string_view direction;  ///< "send" or "receive".
  std::string_view path;       ///< "COLLNET/SHARP/0/GDRDMA".

  static constexpr std::string_view kKind = "collnet_channel_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Net;
  static constexpr Wording kWordings[] = {
      {.text = "{:CollNet|Coll} {channel}/{:int} : {rank} [{direction:send|receive}] via {path...}",
       .example = "CollNet 00/0 : 3 [send] via COLLNET/SHARP/0/GDRDMA"},
      {.text = "{:CollNet|Coll} {channel} : {rank} [{direction:send|receive}] via {path...}",
       .example = "Coll 00 : 3 [send] via COLLNET/SHARP/0"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("rank", self.rank);
    visit("direction", self.direction);
    visit("path", self.path);
  }
};

/// The ranks of a channel's ring in order, printed by rank 0 (init.cc). Up to 2.22.3 only the
/// first 20 ranks are listed, without a sign; later long lists end in "…" as three dots.
struct RingMembers {
  int channel = -1;
  int channels = -1;       ///< Number of channels; -1 in 2.4.
  std::string_view ranks;  ///< Separated by blanks.

  static constexpr std::string_view kKind = "ring_members";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Channel {channel}/{channels} : {ranks:ints}",
       .example = "Channel 00/08 :    0   1   2   3"},
      {.text = "Channel {channel} : {ranks:ints}", .example = "Channel 00 :    0   1   2   3"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("channels", self.channels);
    visit("ranks", self.ranks);
  }
};

/// The rank before and after this one in a channel's ring (init.cc, 2.10.3 and later).
struct RingNeighbours {
  int channel = -1;
  int prev = -1;
  int rank = -1;
  int next = -1;

  static constexpr std::string_view kKind = "ring_neighbours";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "Ring {channel} : {prev} -> {rank} -> {next}", .example = "Ring 00 : 15 -> 0 -> 1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("channel", self.channel);
    visit("prev", self.prev);
    visit("rank", self.rank);
    visit("next", self.next);
  }
};

/// This rank's place in the trees of all channels (init.cc); the line is cut at 1024 bytes.
struct Trees {
  /// Up to 2.7 "[0] up->rank->down/down/down" or both directions with "|"; later "[0]
  /// down/down/down->rank->up".
  std::string_view text;

  static constexpr std::string_view kKind = "trees";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Trees{text...}", .example = "Trees [0] 1/4/-1->0->-1 [1] 1/-1/-1->0->5"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// This rank's place in one tree (graph/connect.cc, 2.8.3 and later).
struct TreeNeighbours {
  int tree = -1;
  int up = -1;
  int rank = -1;
  std::string_view down;  ///< Three ranks separated by "/", -1 is none.

  static constexpr std::string_view kKind = "tree_neighbours";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "Tree {tree} : {up} -> {rank} -> {down:word}",
       .example = "Tree 0 : -1 -> 0 -> 1/4/-1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("tree", self.tree);
    visit("up", self.up);
    visit("rank", self.rank);
    visit("down", self.down);
  }
};

/// How many channels there are for what (init.cc). The CollNet number says nothing since
/// 2.21.5.
struct ChannelCounts {
  int coll = -1;
  int collnet = -1;  ///< -1 where not printed.
  int nvls = -1;     ///< -1 where not printed.
  int p2p = -1;
  int p2p_per_peer = -1;

  static constexpr std::string_view kKind = "channel_counts";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "{coll} coll channels, {collnet} collnet channels, {nvls} nvls channels, {p2p} p2p "
               "channels, {p2p_per_peer} p2p channels per peer",
       .example = "16 coll channels, 16 collnet channels, 16 nvls channels, 16 p2p channels, 2 p2p "
                  "channels per peer"},
      {.text = "{coll} coll channels, {nvls} nvls channels, {p2p} p2p channels, {p2p_per_peer} p2p "
               "channels per peer",
       .example = "2 coll channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer"},
      {.text = "{coll} coll channels, {p2p} p2p channels, {p2p_per_peer} p2p channels per peer",
       .example = "2 coll channels, 2 p2p channels, 2 p2p channels per peer"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("coll", self.coll);
    visit("collnet", self.collnet);
    visit("nvls", self.nvls);
    visit("p2p", self.p2p);
    visit("p2p_per_peer", self.p2p_per_peer);
  }
};

/// Two GPUs that are connected may not use peer access (graph/paths.cc), or a try to enable it
/// failed (transport/p2p.cc): virtual machines, ACS, driver settings.
struct P2pDisabled {
  int dev_a = -1;
  int dev_b = -1;

  static constexpr std::string_view kKind = "p2p_disabled";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "P2P is disabled between connected GPUs {dev_a} and {dev_b}. {...}",
       .example = "P2P is disabled between connected GPUs 1 and 0. You can repress this message "
                  "with NCCL_IGNORE_DISABLED_P2P=1."},
      {.text = "Could not enable P2P between dev {dev_a}(={}) and dev {dev_b}(={})",
       .example = "Could not enable P2P between dev 1(=1b000) and dev 0(=1a000)"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("dev_a", self.dev_a);
    visit("dev_b", self.dev_b);
  }
};

/// NVLink connects two GPUs but peer access is off (graph/paths.cc, 2.12.7 and later): NVLink
/// or the fabric manager is down.
struct P2pDisabledNvlink {
  int dev_a = -1;
  int dev_b = -1;

  static constexpr std::string_view kKind = "p2p_disabled_nvlink";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Warning kWarning{
      WarnSeverity::Fatal, WarnOrigin::System,
      "GPUs joined by NVLink report that they cannot reach each other's memory. Check NVLink "
      "errors and the fabric manager; NCCL_IGNORE_DISABLED_P2P=1 goes on without."};
  static constexpr Wording kWordings[] = {
      {.text = "P2P is disabled between NVLINK connected GPUs {dev_a} and {dev_b}. {...}",
       .example = "P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the "
                  "case given their connectivity, and is probably due to a hardware issue. If you "
                  "still want to proceed, you can set NCCL_IGNORE_DISABLED_P2P=1.",
       .quotable = true},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("dev_a", self.dev_a);
    visit("dev_b", self.dev_b);
  }
};

/// What peer access all ranks of a communicator have in common (transport.cc, 2.24.3 and
/// later).
struct P2pCheck {
  int direct = -1;       ///< 1 if all ranks reach each other directly.
  int direct_mode = -1;  ///< 1 if ranks share a process.
  int cuda_p2p = -1;     ///< -1 if not printed.

  static constexpr std::string_view kKind = "p2p_check";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text =
           "Check P2P Type {:isAllDirectP2p|intraNodeP2pSupport} {direct} directMode {direct_mode}",
       .example = "Check P2P Type isAllDirectP2p 1 directMode 0"},
      {.text = "Check P2P Type isAllDirectP2p {direct} directMode {direct_mode} isAllCudaP2p "
               "{cuda_p2p}",
       .example = "Check P2P Type isAllDirectP2p 0 directMode 0 isAllCudaP2p 1"},
  };
  static void each_field(auto& self, auto&& visit) {
    visit("direct", self.direct);
    visit("direct_mode", self.direct_mode);
    visit("cuda_p2p", self.cuda_p2p);
  }
};

/// The size of the pieces in which point-to-point data is sent (init.cc, 2.16.2 and later).
struct P2pChunkSize {
  int64_t bytes = -1;

  static constexpr std::string_view kKind = "p2p_chunk_size";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "P2P Chunksize set to {bytes}", .example = "P2P Chunksize set to 131072"},
  };
  static void each_field(auto& self, auto&& visit) { visit("bytes", self.bytes); }
};

/// How many point-to-point operations are launched together (init.cc, 2.28.7 and later).
struct P2pGroupSize {
  int size = -1;

  static constexpr std::string_view kKind = "p2p_group_size";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Graph;
  static constexpr Wording kWordings[] = {
      {.text = "{:word}: group size used is {size}",
       .example = "ncclP2pSchedule: group size used is 4"},
  };
  static void each_field(auto& self, auto&& visit) { visit("size", self.size); }
};

/// Peer access was asked for and is not there, or a buffer was shared (transport/p2p.cc).
struct P2pNote {
  std::string_view text;

  static constexpr std::string_view kKind = "p2p_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::P2p;
  static constexpr Wording kWordings[] = {
      {.text = "peer query failed between dev {text...}",
       .example = "peer query failed between dev 1(=1b000) and dev 0(=1a000)"},
      {.text = "Legacy IPC not supported{text}",
       .example = "Legacy IPC not supported on dev 1(=1b000)"},
      {.text = "P2P not supported between {text...}",
       .example = "P2P not supported between GPU1 and GPU0"},
      {.text = "Allocated shareable buffer {text...}",
       .example = "Allocated shareable buffer 0x7f3f7e600000 size 10485760 ipcDesc 0x7f3f1c008bb0"},
      {.text = "Imported shareable buffer device {text...}",
       .example = "Imported shareable buffer device 0 size 10485760 ptr 0xa0e800000"},
      {.text = "{:word}:{:int} ({:word}) {:Allocated|Imported} shareable buffer {text...}",
       .example = "transport/p2p.cc:221 (ncclP2pAllocateShareableBuffer) Allocated shareable "
                  "buffer 0x7f3f7e600000 size 10485760 ipcDesc 0x7f3f1c"},
      {.text = "Set Access for buffer {text...}",
       .example = "Set Access for buffer 0x7f3f7e600000 size 10485760 on dev 3"},
      {.text = "Tuning P2P operations with maxP2pPeers = {text:int}",
       .example = "Tuning P2P operations with maxP2pPeers = 8"},
      {.text = "Max P2P Peers {:int} is too high, capping to communicator size {text:int}",
       .example = "Max P2P Peers 64 is too high, capping to communicator size 16"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// CollNet is not used, or how it is laid out (init.cc, graph/connect.cc, transport.cc).
struct CollnetNote {
  std::string_view text;

  static constexpr std::string_view kKind = "collnet_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Cannot initialize CollNet, {text...}",
       .example = "Cannot initialize CollNet, using point-to-point network instead",
       .warning =
           {WarnSeverity::Degraded, WarnOrigin::System,
            "In-network reduction (CollNet, SHARP) did not start on some rank, so the job goes on "
            "without it. Check the SHARP daemons; NCCL_COLLNET_ENABLE=0 silences this."}},
      {.text = "CollNet currently only supports {text...}",
       .example = "CollNet currently only supports up to 8 GPUs per node, disabling CollNet",
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "Nodes have more GPUs than in-network reduction supports in this release, so it "
                   "is off."}},
      {.text = "CollNet does not support {text...}",
       .example = "CollNet does not support LL128",
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "The protocol that was asked for does not work with in-network reduction. Unset "
                   "NCCL_PROTO, or turn CollNet off."}},
      {.text = "CollNet is not supported {text...}",
       .example = "CollNet is not supported or fails to initialize, ignoring NCCL_ALGO=COLLNET",
       .warning = {WarnSeverity::Degraded, WarnOrigin::User,
                   "In-network reduction was asked for but is not available, so NCCL_ALGO=COLLNET "
                   "is ignored."}},
      {.text = "CollNet sizes: {text...}",
       .example = "CollNet sizes: want=1 got=2",
       .warning = {WarnSeverity::Fatal, WarnOrigin::System,
                   "An in-network reduction has another size than this rank expects: ranks call "
                   "different collectives."}},
      {.text = "Child comms (nRanks {:int}) {text:fails to share parent comms} {...}",
       .example = "Child comms (nRanks 4) fails to share parent comms (nRanks 8) sharp resources",
       .warning = {WarnSeverity::Degraded, WarnOrigin::System,
                   "A child communicator cannot share its parent's in-network reduction and goes "
                   "on without it, as is expected of smaller ones."}},
      {.text = "CollNet [{:recv|send}] : rank {text...}",
       .example =
           "CollNet [send] : rank 3 collNetRank 0 collNetNranks 2 received connect from rank 4"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

/// How NVLink SHARP and NVLink over several nodes are laid out (transport/nvls.cc, init.cc,
/// mnnvl.cc).
struct NvlsNote {
  std::string_view text;

  static constexpr std::string_view kKind = "nvls_note";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Nvls;
  static constexpr Wording kWordings[] = {
      {.text = "NVLS {:Bind mem|Unbind MC handle|Unmap mem UC handle|Mapped MC buffer at|Mapped UC "
               "at|importing shareableHandle|symmetric alloc mc buffer} {text...}",
       .example = "NVLS Unbind MC handle 7f21e0 size 536870912 dev 3"},
      {.text = "NVLS group {text...}", .example = "NVLS group 7f21e0 adding dev 3"},
      {.text = "NVLS rank {text...}",
       .example = "NVLS rank 3 (dev 3) alloc done, ucptr 0x7f21e0 ucgran 2097152 mcptr 0x7f31e0 "
                  "mcgran 2097152 size 2097152 (4096)"},
      {.text = "MNNVL matching peer {text...}",
       .example = "MNNVL matching peer 0x80 UUID 12.34 cliqueId 0x7ffe"},
      {.text = "Multiple ranks on the same GPU detected and allowed. {text...}",
       .example = "Multiple ranks on the same GPU detected and allowed. Disabling NVLS."},
      {.text = "NCCL_NVLS_ENABLE has been set to \"1\" and {text...}",
       .example = "NCCL_NVLS_ENABLE has been set to \"1\" and communicator has multiple ranks "
                  "using the same NVML device. This is not compatible with NCCL_NVLS_ENABLE=1.",
       .warning = {WarnSeverity::Fatal, WarnOrigin::User,
                   "NVLink SHARP is forced although several ranks share a GPU, which excludes it. "
                   "Unset NCCL_NVLS_ENABLE, or give each rank a GPU of its own."}},
      {.text = "{:Binding multicast memory at|Skipping bind multicast for} {text...}",
       .example = "Binding multicast memory at big=10 size=2097152 to team {0 x 8}"},
  };
  static void each_field(auto& self, auto&& visit) { visit("text", self.text); }
};

using TransportMessages =
    Kinds<ChannelConnected, CollnetChannelConnected, RingMembers, RingNeighbours, Trees,
          TreeNeighbours, ChannelCounts, P2pDisabled, P2pDisabledNvlink, P2pCheck, P2pChunkSize,
          P2pGroupSize, P2pNote, CollnetNote, NvlsNote>;

}  // namespace ncclog
