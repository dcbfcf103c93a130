#include "model/record_limit.h"

#include <algorithm>
#include <bit>

#include "log/messages.h"

namespace ncclog {
namespace {

bool is_numbered(uint16_t kind) {
  switch (kind) {
    case kKindIndex<TopologyPaths>:
    case kKindIndex<GraphChannel>:
    case kKindIndex<RingNeighbours>:
    case kKindIndex<TreeNeighbours>:
    case kKindIndex<ProxyConnected>:
    case kKindIndex<ProxyNewConnection>:
      return true;
    default:
      return false;
  }
}

}  // namespace

size_t RecordLimit::of(uint16_t kind) const { return is_numbered(kind) ? most_numbered : most; }

RecordLimit record_limit(size_t speakers) {
  constexpr size_t kTogether = 8192;
  constexpr size_t kFewest = 32;
  constexpr size_t kFewestNumbered = 4;
  // In steps, because every list is looked at when the number falls.
  const size_t share = kTogether / std::bit_ceil(std::max<size_t>(speakers, 1));
  return {std::clamp(share, kFewest, RecordList::kMaxKept),
          std::clamp(share, kFewestNumbered, RecordList::kMaxKept)};
}

RecordLimit laxer(const RecordLimit& a, const RecordLimit& b) {
  return {std::max(a.most, b.most), std::max(a.most_numbered, b.most_numbered)};
}

}  // namespace ncclog
