// Does a text begin with one of many others?
//
//   {"rank ", "Segmentation fault", "#"}     "rank 3 died" yes, "ranking" no
//
// Answered from the first eight bytes, by hash: a yes may be wrong now and then, a no never is.

#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

namespace ncclog {

/// Filled once, then only read: any number of threads may ask.
class Beginnings {
 public:
  /// `text` must not be empty.
  void add(std::string_view text);

  /// False if `text` begins with none of those that were added.
  bool may_begin(std::string_view text) const;

 private:
  static constexpr size_t kMost = 8;  ///< Bytes that are looked at.

  static size_t hash_of(uint64_t bytes, size_t length);

  std::array<uint8_t, 256> lengths_{};  ///< By first byte: bit n - 1 says that one has n bytes.
  std::bitset<1 << 14> hashes_;
};

}  // namespace ncclog
