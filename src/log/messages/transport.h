// How ranks reach each other: what NCCL prints while it connects its channels.
//
//   node07:4121:4188 [3] NCCL INFO Channel 00/0 : 3[3] -> 4[4] via P2P/IPC
//   node07:4121:4188 [3] NCCL INFO Ring 00 : 15 -> 0 -> 1

#pragma once

#include <string_view>

#include "log/message_kind.h"

namespace ncclog {

/// A channel has a path from one rank to another (transport.cc and
/// transport/*.cc).
///
/// Both ends announce a network path, only the sender announces P2P and SHM. So
/// count connections by (channel, src_rank, dst_rank), never by lines.
struct ChannelConnected {
  int channel = 0;
  int src_rank = 0;
  int dst_rank = 0;
  std::string_view
      direction;         ///< "send" or "receive" on network paths, else empty.
  std::string_view path; ///< As printed after "via": "P2P/CUMEM", "SHM/direct",
                         ///< "NET/IB/0/GDRDMA".

  static constexpr std::string_view kKind = "channel_connected";
  static constexpr Source kSource = Source::Nccl;
  static constexpr Subsystem kSubsystem = Subsystem::Init;
  static constexpr Wording kWordings[] = {
      {.text = "Channel {channel}/{:int} : {src_rank}[{}] -> {dst_rank}[{}] "
               "[{direction:send|receive}] via {path...}",
       .example = "Channel 03/0 : 5[5] -> 8[0] [send] via NET/IB/2/GDRDMA"},
      {.text = "Channel {channel}/{:int} : {src_rank}[{}] -> {dst_rank}[{}] "
               "via {path...}",
       .example = "Channel 00/0 : 2[2] -> 3[3] via P2P/CUMEM"},
      // SHM in every release, all paths up to 2.11.
      {.text = "Channel {channel} : {src_rank}[{}] -> {dst_rank}[{}] "
               "[{direction:send|receive}] via {path...}",
       .example =
           "Channel 01 : 7[b2000] -> 8[1a000] [send] via NET/IB/0/GDRDMA"},
      {.text =
           "Channel {channel} : {src_rank}[{}] -> {dst_rank}[{}] via {path...}",
       .example = "Channel 01 : 0[1a000] -> 1[1b000] via SHM/direct/direct"},
      // 2.4 to 2.6.
      {.text = "Ring {channel} : {src_rank}[{}] -> {dst_rank}[{}] "
               "[{direction:send|receive}] via {path...}",
       .example = "Ring 00 : 7[7] -> 8[0] [receive] via NET/Socket/0"},
      {.text =
           "Ring {channel} : {src_rank}[{}] -> {dst_rank}[{}] via {path...}",
       .example = "Ring 00 : 0[0] -> 1[1] via P2P/direct pointer"},
      {.text = "Ring {channel} : {src_rank} -> {dst_rank} "
               "[{direction:send|receive}] via {path...}",
       .example = "Ring 00 : 1 -> 2 [send] via NET/Socket/0"},
  };
  static void each_field(auto &self, auto &&visit) {
    visit("channel", self.channel);
    visit("src_rank", self.src_rank);
    visit("dst_rank", self.dst_rank);
    visit("direction", self.direction);
    visit("path", self.path);
  }
};

using TransportMessages = Kinds<ChannelConnected>;

} // namespace ncclog
