// Where in a block of bytes does one of many short texts stand?
//
//   {"NCCL", "%|", ", skipped=", "[\x02\x01\x01\x01"}      the last one: "[E717", a digit may be
//   any "… step=10, skipped=0, lr=…"                           stands at the comma
//
// Of each needle the four bytes in a row that are rarest in logs are looked for, of all needles at
// once: needles are spread over eight buckets, and a table a byte says which buckets have the byte
// there. Where the processor has AVX2, the tables are split by half bytes and 32 places are looked
// up in one go (the idea of Hyperscan's "Teddy"). Of what is found so, most goes when its bytes are
// looked up two at a time; the rest is compared in full.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ncclog {

/// In a needle: any of the ten digits.
inline constexpr char kAnyDigit = '\x01';
/// In a needle: a severity of PyTorch's loggers, one of "EWIFV".
inline constexpr char kAnySeverity = '\x02';
/// In a needle: anything but a blank.
inline constexpr char kNonBlank = '\x03';

/// A set of needles. Built once, then only read: any number of threads may use one filter.
class NeedleFilter {
 public:
  /// Needles must not be empty and hold no line end "\n". They keep their places as numbers.
  explicit NeedleFilter(const std::vector<std::string>& needles);

  /// How often the rarest window of a text stands in logs; only fit for comparing.
  static int64_t commonness(std::string_view text);

  /// Where, from `from` on, a needle stands next: a place inside the needle, in order of these
  /// places; text.size() if there is none.
  size_t next(std::string_view text, size_t from) const;

  /// The same without AVX2, for the test that both find the same.
  size_t next_plain(std::string_view text, size_t from) const;

  /// Calls `visit(number)` for all needles that stand in `text`, until it answers true; whether it
  /// did.
  template <typename Visit>
  bool any_of(std::string_view text, Visit&& visit) const {
    return any_from(text, 0, visit);
  }

  /// The same for needles whose place, as `next` says it, is `from` or behind it.
  template <typename Visit>
  bool any_from(std::string_view text, size_t from, Visit&& visit) const {
    for (size_t at = next(text, from); at < text.size(); at = next(text, at + 1)) {
      if (visit_at(text, at, visit)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kWindow = 4;
  static constexpr size_t kBuckets = 8;

  struct Needle {
    std::string text;
    size_t window = 0;  ///< Where in `text` the bytes stand that are looked for.
    size_t number = 0;
    uint32_t bytes = 0;  ///< Those of the window that are certain,
    uint32_t mask = 0;   ///< and where they stand.
  };
  /// By half byte, for each byte of a window: the buckets that have such a byte there.
  struct HalfBytes {
    alignas(16) std::array<uint8_t, 16> low{};
    alignas(16) std::array<uint8_t, 16> high{};
  };

  /// By hash of two bytes in a row: the buckets that have them there.
  using Pairs = std::array<uint8_t, 4096>;

  static size_t place_of_pair(uint32_t pair) {
    return static_cast<uint16_t>((pair & 0xFFFF) * 40503) >> 4;
  }

  void note(size_t bucket, Needle& needle);
  void note_pair(size_t bucket, const Needle& needle, size_t place, Pairs& pairs);
  static bool stands_at(const Needle& needle, std::string_view text, size_t at);
  size_t next_avx2(std::string_view text, size_t from) const;

  /// Calls `visit(number)` for the needles whose window begins at `at`, until it answers true.
  template <typename Visit>
  bool visit_at(std::string_view text, size_t at, Visit&& visit) const {
    const uint32_t bytes = window_at(text, at);
    for (unsigned buckets = buckets_of(bytes); buckets != 0; buckets &= buckets - 1) {
      for (const Needle& needle : buckets_[static_cast<size_t>(std::countr_zero(buckets))]) {
        const bool may_stand = ((bytes ^ needle.bytes) & needle.mask) == 0;
        if (may_stand && stands_at(needle, text, at) && visit(needle.number)) return true;
      }
    }
    return false;
  }

  /// The bytes at `at`, zeros behind the end of the text.
  static uint32_t window_at(std::string_view text, size_t at) {
    uint32_t bytes = 0;
    const size_t left = text.size() - at;
    if (left >= sizeof bytes) {
      std::memcpy(&bytes, text.data() + at, sizeof bytes);
    } else {
      std::memcpy(&bytes, text.data() + at, left);
    }
    return bytes;
  }

  /// The buckets of the needles that may have this window, and perhaps of others.
  unsigned buckets_of(uint32_t bytes) const {
    return pairs_[0][place_of_pair(bytes)] & pairs_[1][place_of_pair(bytes >> 16)];
  }

  std::array<std::vector<Needle>, kBuckets> buckets_;
  std::array<HalfBytes, kWindow> half_bytes_;
  std::array<Pairs, kWindow / 2> pairs_{};
};

}  // namespace ncclog
