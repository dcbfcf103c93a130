// Numbers in as few bytes as they need, for long lists of small ones.
//
//   5 → 05      300 → AC 02      step +1 → 02, step -1 → 01
//
// Seven bits a byte, the lowest first; the last byte of a number is below 128.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ncclog {

inline void append_varint(std::string& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80U);
  bytes += static_cast<char>(number);
}

/// Takes one number from the front of `bytes`, which append_varint wrote.
inline uint64_t take_varint(std::string_view& bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7FU} << (shift & 63U);
    if (byte < 0x80) break;
  }
  return number;
}

/// `to` - `from` as a number that is small where the difference is, whichever is larger. Any two
/// numbers have one: the difference wraps.
inline uint64_t difference(int64_t from, int64_t to) {
  const uint64_t apart = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  return (apart << 1) ^ (0 - (apart >> 63));
}

/// The number that is `apart`, a difference(), from `from`.
inline int64_t moved_by(int64_t from, uint64_t apart) {
  return static_cast<int64_t>(static_cast<uint64_t>(from) + ((apart >> 1) ^ (0 - (apart & 1))));
}

}  // namespace ncclog
