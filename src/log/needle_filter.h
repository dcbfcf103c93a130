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

#include <array>
#include <bit>
#include <cstdint>
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

  /// A needle in a text.
  struct Found {
    size_t place = 0;   ///< Of the needle's first byte; the text's size if there is none.
    size_t number = 0;  ///< Of the needle.
    size_t next = 0;    ///< From where to look for more.
  };

  /// The first needle that stands in `text` from `from` on. Where several windows begin at one
  /// place any of their needles is found, and only that one.
  Found next(std::string_view text, size_t from) const;

  /// The same without AVX2, for the test that both find the same.
  Found next_plain(std::string_view text, size_t from) const;

  /// Calls `visit(number)` for the needles that stand in `text`, until it answers true; whether it
  /// did.
  template <typename Visit>
  bool any_of(std::string_view text, Visit&& visit) const {
    for (Found found = next(text, 0); found.place < text.size(); found = next(text, found.next)) {
      if (visit(found.number)) return true;
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
  bool find_at(std::string_view text, size_t at, Found& found) const;
  Found next_avx2(std::string_view text, size_t from) const;

  std::array<std::vector<Needle>, kBuckets> buckets_;
  std::array<HalfBytes, kWindow> half_bytes_;
  std::array<std::array<uint8_t, 256>, kWindow> bytes_{};  ///< The same, by whole byte.
};

}  // namespace ncclog
