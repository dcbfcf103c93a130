// Where in a block of bytes does one of many short texts stand?
//
//   {"NCCL", "%|", ", skipped=", "[\x02\x01\x01\x01"}      the last one: "[E717", a digit may be
//   any "… step=10, skipped=0, lr=…"                           stands at the comma
//
// Of each needle the four bytes in a row that are rarest in logs are looked for, of all needles at
// once: needles are spread over eight buckets, and a table a byte says which buckets have the byte
// there. Where the processor has AVX2, the tables are split by half bytes and 32 places are looked
// up in one go (the idea of Hyperscan's "Teddy"). What is found so is then compared in full.

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
    for (size_t at = next(text, 0); at < text.size(); at = next(text, at + 1)) {
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

  void note(size_t bucket, Needle& needle);
  static bool stands_at(const Needle& needle, std::string_view text, size_t at);
  size_t next_avx2(std::string_view text, size_t from) const;

  /// Calls `visit(number)` for the needles whose window begins at `at`, until it answers true.
  template <typename Visit>
  bool visit_at(std::string_view text, size_t at, Visit&& visit) const {
    uint32_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, std::min(sizeof bytes, text.size() - at));
    for (unsigned buckets = buckets_at(text, at); buckets != 0; buckets &= buckets - 1) {
      for (const Needle& needle : buckets_[static_cast<size_t>(std::countr_zero(buckets))]) {
        const bool may_stand = ((bytes ^ needle.bytes) & needle.mask) == 0;
        if (may_stand && stands_at(needle, text, at) && visit(needle.number)) return true;
      }
    }
    return false;
  }

  unsigned buckets_at(std::string_view text, size_t at) const {
    unsigned buckets = (1U << kBuckets) - 1;
    for (size_t i = 0; i < kWindow && at + i < text.size(); ++i) {
      buckets &= bytes_[i][static_cast<unsigned char>(text[at + i])];
    }
    return buckets;
  }

  std::array<std::vector<Needle>, kBuckets> buckets_;
  std::array<HalfBytes, kWindow> half_bytes_;
  std::array<std::array<uint8_t, 256>, kWindow> bytes_{};  ///< The same, by whole byte.
};

}  // namespace ncclog
