// The inner loops run over arrays of a fixed size, so that the compiler makes vectors of them.

#include "base/odd_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

// Where the processor has vectors of 32 bytes they take a quarter of the time. Sanitizers cannot
// look on while the choice is made, at the start of the program.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define NCCLOG_WIDE_VECTORS [[gnu::target_clones("avx2", "default")]]
#else
#define NCCLOG_WIDE_VECTORS
#endif

namespace ncclog {
namespace {

using Byte = unsigned char;

constexpr size_t kLanes = 32;

using Bytes = std::array<Byte, kLanes>;

/// What each lane has seen: the bytes, joined by "or", and whether one was a control code.
struct Seen {
  Bytes all{};
  Bytes control{};
};

NCCLOG_WIDE_VECTORS
void look_at(const char* bytes, size_t rows, Seen& seen) {
  Seen now = seen;
  for (size_t row = 0; row < rows; ++row, bytes += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) {
      const Byte byte = static_cast<Byte>(bytes[i]);
      // Without branches, and all in bytes.
      const Byte is_low = (byte & 0xE0) == 0 ? 0xFF : 0;
      const Byte is_tab = byte == '\t' ? 0xFF : 0;
      const Byte is_newline = byte == '\n' ? 0xFF : 0;
      now.all[i] = static_cast<Byte>(now.all[i] | byte);
      now.control[i] = static_cast<Byte>(now.control[i] | (is_low & ~(is_tab | is_newline)));
    }
  }
  seen = now;
}

/// All bytes joined by "or".
uint64_t join(const Bytes& bytes) {
  uint64_t all = 0;
  for (const uint64_t word : std::bit_cast<std::array<uint64_t, kLanes / 8>>(bytes)) all |= word;
  return all;
}

NCCLOG_WIDE_VECTORS
void count_rows(const char* bytes, size_t rows, Bytes& counters) {
  Bytes now{};
  for (size_t row = 0; row < rows; ++row, bytes += kLanes) {
    for (size_t i = 0; i < kLanes; ++i) {
      now[i] = static_cast<Byte>(now[i] + (bytes[i] == '\n'));
    }
  }
  counters = now;
}

}  // namespace

OddBytes find_odd_bytes(std::string_view text) {
  Seen seen;
  if (text.size() < kLanes) {
    std::array<char, kLanes> padded{};
    padded.fill(' ');
    text.copy(padded.data(), text.size());
    look_at(padded.data(), 1, seen);
  } else {
    look_at(text.data(), text.size() / kLanes, seen);
    // What is left over, and some bytes before it for a second time.
    look_at(text.data() + text.size() - kLanes, 1, seen);
  }
  return {join(seen.control) != 0, (join(seen.all) & 0x8080808080808080U) != 0};
}

uint64_t count_newlines(std::string_view text) {
  // A counter is one byte wide, so that a vector holds many: emptied before it can overflow.
  constexpr size_t kMaxRows = 255;
  uint64_t count = 0;
  while (text.size() >= kLanes) {
    Bytes counters;
    const size_t rows = std::min(kMaxRows, text.size() / kLanes);
    count_rows(text.data(), rows, counters);
    for (const Byte counter : counters) count += counter;
    text.remove_prefix(rows * kLanes);
  }
  return count + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace ncclog
