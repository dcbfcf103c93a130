// Which ranks a process is connected to, over which path, on how many channels.
//
//   Channel 00/0 : 1[1] -> 2[2] [send] via NET/Socket/0
//
// Both ends announce network paths, only the sender P2P and SHM; the same connection is announced
// once per channel. Here a connection is (src, dst, path) with the channels that use it.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "base/source_ref.h"
#include "log/messages.h"

namespace ncclog {

/// Path classes as NCCL's transports name themselves.
enum class Transport { P2P, SHM, NET, COLLNET, Other };

/// "P2P/CUMEM" → P2P, "direct shared memory" → SHM, "NET/IB/0/GDRDMA" → NET.
Transport transport_of(std::string_view path);
std::string_view to_string(Transport transport);

struct ConnectionKey {
  int src_rank = 0;
  int dst_rank = 0;
  std::string path;  ///< As printed after "via".

  auto operator<=>(const ConnectionKey&) const = default;
};

/// The same as a line says it.
struct ConnectionView {
  int src_rank = 0;
  int dst_rank = 0;
  std::string_view path;
};

inline auto operator<=>(const ConnectionKey& key, const ConnectionView& view) {
  return std::tuple(key.src_rank, key.dst_rank, std::string_view(key.path)) <=>
         std::tuple(view.src_rank, view.dst_rank, view.path);
}

/// The channels on which a connection was announced.
struct ConnectionUse {
  uint64_t channels = 0;  ///< Bit c: channel c; NCCL has at most 64.
  SourceRef first;

  bool operator==(const ConnectionUse&) const = default;
};

/// Connections of one process: the smallest kLimit keys, and a count of lines for the rest.
struct Connections {
  std::map<ConnectionKey, ConnectionUse, std::less<>> all;
  uint64_t dropped = 0;  ///< Lines about connections beyond kLimit.

  static constexpr size_t kLimit = 8192;

  void add(SourceRef where, const ChannelConnected& connected);
  void merge(const Connections& later);
  bool operator==(const Connections&) const = default;

 private:
  void add(const ConnectionKey& key, const ConnectionUse& use);
};

/// Number of channels in the mask.
int channel_count(const ConnectionUse& use);

}  // namespace ncclog
