// Which bytes does a text hold that most log lines do not?
//
//   "n1:7:7 [0] NCCL INFO Using network Socket"   neither
//   "\x1b[36mn1:7:7 ..."   "50%\r"   "a\0b"       control
//   "größer"   "█▌ 3/9"                           high
//
// One pass with the processor's vectors, so that every later search for such a byte can be left
// out.

#pragma once

#include <cstdint>
#include <string_view>

namespace ncclog {

/// Kinds of bytes that occur.
struct OddBytes {
  bool control = false;  ///< Below 0x20, but for tab and newline.
  bool high = false;     ///< 0x80 and above: not ASCII.

  bool operator==(const OddBytes&) const = default;
};

/// The odd bytes of `text`, which may hold any bytes.
OddBytes find_odd_bytes(std::string_view text);

/// How many "\n" are in `text`.
uint64_t count_newlines(std::string_view text);

}  // namespace ncclog
