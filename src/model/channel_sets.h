// The same thing said about many channels, kept once with the channels it holds for.
//
//   Ring 00 : 3 -> 0 -> 1
//   Ring 01 : 3 -> 0 -> 1      → {3, 0, 1} on channels 0 and 1
//
// NCCL has at most 64 channels, so a set of them is a word. Only the smallest kLimit values are
// kept; as in BoundedCounts, merging parts in any grouping gives the same result as adding the
// whole.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>

namespace ncclog {

inline constexpr int kMaxChannels = 64;

/// Bit c stands for channel c; no bit for numbers that no channel has.
constexpr uint64_t channel_bit(int64_t channel) {
  return channel < 0 || channel >= kMaxChannels ? 0 : uint64_t{1} << channel;
}

template <typename Value, size_t kLimit>
struct ChannelSets {
  std::map<Value, uint64_t, std::less<>> channels;
  bool full = false;  ///< Other values were said too and are not kept.

  /// `value` may be a view of what would be kept.
  template <typename Like>
  void add(const Like& value, uint64_t mask) {
    const auto known = channels.find(value);
    if (known != channels.end()) {
      known->second |= mask;
      return;
    }
    if (channels.size() == kLimit && std::prev(channels.end())->first < value) {
      full = true;
      return;
    }
    channels.emplace(Value(value), mask);
    if (channels.size() > kLimit) {
      full = true;
      channels.erase(std::prev(channels.end()));
    }
  }

  void merge(const ChannelSets& later) {
    for (const auto& [value, mask] : later.channels) add(value, mask);
    full |= later.full;
  }

  bool operator==(const ChannelSets&) const = default;
};

}  // namespace ncclog
