#include "model/call_volumes.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace ncclog {

void CallVolume::add(const CallVolume& more) {
  calls += more.calls;
  const uint64_t sum = elements + more.elements;
  elements = sum < elements ? std::numeric_limits<uint64_t>::max() : sum;
}

void CallVolumes::add(const VolumeKey& key, const CallVolume& volume) {
  if (volumes.size() == kLimit && std::prev(volumes.end())->first < key) {
    other += volume.calls;
    return;
  }
  volumes[key].add(volume);
  if (volumes.size() > kLimit) {
    const auto last = std::prev(volumes.end());
    other += last->second.calls;
    volumes.erase(last);
  }
}

void CallVolumes::add(const CallSignature& call, uint64_t calls) {
  const auto count = static_cast<uint64_t>(std::max<int64_t>(0, call.count));
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t elements = count > kMost / calls ? kMost : count * calls;
  add({call.op, call.datatype}, {calls, elements});
}

void CallVolumes::merge(const CallVolumes& later) {
  for (const auto& [key, volume] : later.volumes) add(key, volume);
  other += later.other;
}

}  // namespace ncclog
