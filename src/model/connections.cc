#include "model/connections.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace ncclog {

Transport transport_of(std::string_view path) {
  if (path.starts_with("P2P")) return Transport::P2P;
  if (path.starts_with("SHM") || path == "direct shared memory") return Transport::SHM;
  if (path.starts_with("NET")) return Transport::NET;
  if (path.starts_with("COLLNET")) return Transport::COLLNET;
  return Transport::Other;
}

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::P2P:
      return "P2P";
    case Transport::SHM:
      return "SHM";
    case Transport::NET:
      return "NET";
    case Transport::COLLNET:
      return "COLLNET";
    case Transport::Other:
      return "other";
  }
  return "other";
}

void Connections::add(SourceRef where, const ChannelConnected& connected) {
  const int channel = std::clamp(connected.channel, 0, 63);
  const auto known =
      all.find(ConnectionView{connected.src_rank, connected.dst_rank, connected.path});
  if (known != all.end()) {
    known->second.channels |= uint64_t{1} << channel;
    known->second.first = std::min(known->second.first, where);
    return;
  }
  add({connected.src_rank, connected.dst_rank, std::string(connected.path)},
      {uint64_t{1} << channel, where});
}

void Connections::add(const ConnectionKey& key, const ConnectionUse& use) {
  const auto [it, is_new] = all.try_emplace(key, use);
  if (!is_new) {
    it->second.channels |= use.channels;
    it->second.first = std::min(it->second.first, use.first);
  }
  if (all.size() > kLimit) {
    const auto last = std::prev(all.end());
    dropped += static_cast<uint64_t>(channel_count(last->second));
    all.erase(last);
  }
}

void Connections::merge(const Connections& later) {
  for (const auto& [key, use] : later.all) add(key, use);
  dropped += later.dropped;
}

int channel_count(const ConnectionUse& use) { return std::popcount(use.channels); }

}  // namespace ncclog
