// FNV-1a over texts: a hash that is the same on every machine, for ids that reports carry.

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

inline constexpr uint64_t kFnvBasis = 0xcbf29ce484222325u;  ///< The hash of nothing.

/// `hash` with one more number taken in.
constexpr uint64_t fnv_step(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3u;
}

/// `hash` with one more text taken in, and its end: "ab", "c" is not "a", "bc".
constexpr uint64_t fnv_text(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = fnv_step(hash, static_cast<unsigned char>(c));
  return fnv_step(hash, 0xFFu);
}

}  // namespace ncclog
