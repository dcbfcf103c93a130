// Hashes that are the same on every machine: FNV-1a for ids that reports carry, SHA-256 for what
// others check.
//
//   sha256_hex("abc")      ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 96177a9c b410ff61 f20015ad
//   sha256_base64("abc")   ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=

#pragma once

#include <cstdint>
#include <string>
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

/// SHA-256 as 64 hexadecimal digits in lower case, as sha256sum prints them.
std::string sha256_hex(std::string_view bytes);

/// The same as 44 characters, as content security policies want it.
std::string sha256_base64(std::string_view bytes);

}  // namespace ncclog
