#include "log/needle_filter.h"

#include <span>

#include "base/text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ncclog {
namespace {

constexpr std::string_view kSeverities = "EWIFV";

/// One of the bytes that stand for several.
constexpr bool is_class(char wanted) { return wanted > 0 && wanted <= kNonBlank; }

constexpr bool fits(char wanted, char c) {
  if (wanted > kNonBlank) return wanted == c;
  if (wanted == kAnyDigit) return is_digit(c);
  if (wanted == kAnySeverity) return kSeverities.find(c) != kSeverities.npos;
  if (wanted == kNonBlank) return !is_blank(c);
  return wanted == c;
}

/// How many of a thousand bytes of a log are this one, roughly.
constexpr int commonness(char wanted) {
  constexpr std::string_view kLetters = "etaoinsrhldcumfpgwybvkxjqz";
  constexpr int kOfLetters[] = {70, 55, 45, 45, 45, 45, 42, 42, 22, 30, 25, 22, 20,
                                20, 15, 20, 15, 8,  8,  8,  8,  6,  3,  2,  2,  2};
  if (wanted == kAnyDigit) return 150;
  if (wanted == kAnySeverity) return 15;
  if (wanted == kNonBlank) return 850;
  if (wanted >= 0 && wanted < ' ') return 0;
  if (is_digit(wanted)) return 20;
  if (wanted == ' ') return 120;
  if (const size_t at = kLetters.find(wanted); at != kLetters.npos) return kOfLetters[at];
  if (is_alpha(wanted)) return 4;
  return std::string_view(".,:=/-_").find(wanted) != std::string_view::npos ? 20 : 5;
}

constexpr int kAnyByte = 1000;

int64_t commonness_of_window(std::string_view text, size_t begin, size_t length) {
  int64_t product = 1;
  for (size_t i = begin; i < begin + length; ++i) {
    product *= i < text.size() ? commonness(text[i]) : kAnyByte;
  }
  return product;
}

/// The place of the rarest window in `text`; shorter texts have only one, with any bytes behind.
size_t rarest_window(std::string_view text, size_t length) {
  size_t best = 0;
  for (size_t begin = 1; begin + length <= text.size(); ++begin) {
    if (commonness_of_window(text, begin, length) < commonness_of_window(text, best, length)) {
      best = begin;
    }
  }
  return best;
}

/// The bytes that may stand in one place of a window, as far as their halves tell.
struct ByteSet {
  uint16_t low = 0;   ///< By lower half.
  uint16_t high = 0;  ///< By upper half.

  ByteSet operator|(const ByteSet& other) const {
    return {static_cast<uint16_t>(low | other.low), static_cast<uint16_t>(high | other.high)};
  }
};

ByteSet set_of(std::string_view text, size_t i) {
  if (i >= text.size()) return {0xFFFF, 0xFFFF};
  ByteSet set;
  const unsigned char wanted = text[i];
  const bool is_any_of = is_class(text[i]);
  for (unsigned byte = is_any_of ? 0 : wanted; byte <= (is_any_of ? 0xFFU : wanted); ++byte) {
    if (!fits(text[i], static_cast<char>(byte))) continue;
    set.low = static_cast<uint16_t>(set.low | 1U << byte % 16);
    set.high = static_cast<uint16_t>(set.high | 1U << byte / 16);
  }
  return set;
}

/// Share of all bytes that are in the set.
double share_of(const ByteSet& set) {
  static const auto kShares = [] {
    std::array<double, 256> shares;
    for (size_t byte = 0; byte < shares.size(); ++byte) {
      const char c = static_cast<char>(byte);
      shares[byte] = c > 0 && c < ' ' ? 0 : commonness(c) / 1000.0;
    }
    return shares;
  }();
  double sum = 0;
  for (unsigned highs = set.high; highs != 0; highs &= highs - 1) {
    for (unsigned lows = set.low; lows != 0; lows &= lows - 1) {
      sum += kShares[static_cast<size_t>(std::countr_zero(highs) * 16 + std::countr_zero(lows))];
    }
  }
  return sum;
}

/// Share of all windows that fit a bucket by chance.
double share_of(std::span<const ByteSet> window) {
  double share = 1;
  for (const ByteSet& set : window) share *= share_of(set);
  return share;
}

}  // namespace

int64_t NeedleFilter::commonness(std::string_view text) {
  return commonness_of_window(text, rarest_window(text, kWindow), kWindow);
}

NeedleFilter::NeedleFilter(const std::vector<std::string>& needles) {
  std::vector<Needle> all;
  for (size_t i = 0; i < needles.size(); ++i) {
    all.push_back({needles[i], rarest_window(needles[i], kWindow), i});
  }
  // Those that fit by chance the most choose first, so that the rare ones keep apart from them.
  std::ranges::stable_sort(all, [](const Needle& a, const Needle& b) {
    return commonness(a.text) > commonness(b.text);
  });
  std::array<std::array<ByteSet, kWindow>, kBuckets> sets;
  for (Needle& needle : all) {
    std::array<ByteSet, kWindow> own;
    for (size_t i = 0; i < kWindow; ++i) own[i] = set_of(needle.text, needle.window + i);
    std::array<std::array<ByteSet, kWindow>, kBuckets> with = sets;
    size_t best = 0;
    double least = INFINITY;
    for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (size_t i = 0; i < kWindow; ++i) with[bucket][i] = sets[bucket][i] | own[i];
      const double growth = share_of(with[bucket]) - share_of(sets[bucket]);
      if (growth < least) best = bucket;
      least = std::min(least, growth);
    }
    sets[best] = with[best];
    note(best, needle);
    buckets_[best].push_back(std::move(needle));
  }
}

/// Enters a needle of a bucket in the tables.
void NeedleFilter::note(size_t bucket, Needle& needle) {
  for (size_t i = 0; i < kWindow && needle.window + i < needle.text.size(); ++i) {
    const char c = needle.text[needle.window + i];
    if (is_class(c)) continue;
    needle.bytes |= uint32_t{static_cast<unsigned char>(c)} << 8 * i;
    needle.mask |= uint32_t{0xFF} << 8 * i;
  }
  const auto bit = static_cast<uint8_t>(1U << bucket);
  for (size_t i = 0; i < kWindow; ++i) {
    const ByteSet set = set_of(needle.text, needle.window + i);
    for (size_t half = 0; half < 16; ++half) {
      if ((set.low >> half & 1) != 0) half_bytes_[i].low[half] |= bit;
      if ((set.high >> half & 1) != 0) half_bytes_[i].high[half] |= bit;
    }
  }
  for (size_t i = 0; i < pairs_.size(); ++i) note_pair(bucket, needle, 2 * i, pairs_[i]);
}

/// Enters the two bytes that stand at `place` of the needle's window.
void NeedleFilter::note_pair(size_t bucket, const Needle& needle, size_t place, Pairs& pairs) {
  const auto bit = static_cast<uint8_t>(1U << bucket);
  const std::string_view wanted = std::string_view(needle.text).substr(needle.window);
  if (place >= wanted.size()) {
    for (uint8_t& buckets : pairs) buckets |= bit;
    return;
  }
  const auto fits_at = [&](size_t i, uint32_t byte) {
    return i >= wanted.size() || fits(wanted[i], static_cast<char>(byte));
  };
  for (uint32_t first = 0; first < 256; ++first) {
    if (!fits_at(place, first)) continue;
    for (uint32_t second = 0; second < 256; ++second) {
      if (fits_at(place + 1, second)) pairs[place_of_pair(first | second << 8)] |= bit;
    }
  }
}

bool NeedleFilter::stands_at(const Needle& needle, std::string_view text, size_t at) {
  if (at < needle.window) return false;
  const std::string_view rest = text.substr(at - needle.window);
  return rest.size() >= needle.text.size() &&
         std::equal(needle.text.begin(), needle.text.end(), rest.begin(), [](char wanted, char c) {
           return (wanted == c && !is_class(wanted)) || fits(wanted, c);
         });
}

size_t NeedleFilter::next_plain(std::string_view text, size_t from) const {
  const auto any = [](size_t) { return true; };
  while (from < text.size() && !visit_at(text, from, any)) ++from;
  return std::min(from, text.size());
}

#if defined(__x86_64__)

namespace {

constexpr size_t kLane = 32;  ///< Places that are looked up in one go.

struct Tables {
  __m256i low;
  __m256i high;
};

[[gnu::target("avx2")]] inline __m256i load_twice(const std::array<uint8_t, 16>& table) {
  return _mm256_broadcastsi128_si256(
      _mm_load_si128(reinterpret_cast<const __m128i*>(table.data())));
}

/// For each of the bytes at `data`: the buckets that have such a byte in this place of a window.
[[gnu::target("avx2")]] inline __m256i look_up(const Tables& tables, const char* data) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
  const __m256i half = _mm256_set1_epi8(0x0F);
  const __m256i low = _mm256_shuffle_epi8(tables.low, _mm256_and_si256(bytes, half));
  const __m256i high =
      _mm256_shuffle_epi8(tables.high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
  return _mm256_and_si256(low, high);
}

/// The places at `data` where a window may begin, as bits. Reads three bytes more than a lane.
[[gnu::target("avx2")]] inline uint32_t windows_at(const std::array<Tables, 4>& tables,
                                                   const char* data) {
  const __m256i buckets = _mm256_and_si256(
      _mm256_and_si256(look_up(tables[0], data), look_up(tables[1], data + 1)),
      _mm256_and_si256(look_up(tables[2], data + 2), look_up(tables[3], data + 3)));
  const __m256i none = _mm256_cmpeq_epi8(buckets, _mm256_setzero_si256());
  return ~static_cast<uint32_t>(_mm256_movemask_epi8(none));
}

}  // namespace

[[gnu::target("avx2")]] size_t NeedleFilter::next_avx2(std::string_view text, size_t from) const {
  std::array<Tables, kWindow> tables;
  for (size_t i = 0; i < kWindow; ++i) {
    tables[i] = {load_twice(half_bytes_[i].low), load_twice(half_bytes_[i].high)};
  }
  const auto any = [](size_t) { return true; };
  // The end is looked at in a copy, so that nothing behind it is read.
  char end[kLane + kWindow];
  for (; from < text.size(); from += kLane) {
    const char* lane = text.data() + from;
    const size_t left = text.size() - from;
    if (left < sizeof end) {
      std::memset(end, '\n', sizeof end);
      std::memcpy(end, lane, left);
      lane = end;
    }
    for (uint32_t places = windows_at(tables, lane); places != 0; places &= places - 1) {
      const auto at = static_cast<size_t>(std::countr_zero(places));
      if (at < left && visit_at(text, from + at, any)) return from + at;
    }
  }
  return text.size();
}

size_t NeedleFilter::next(std::string_view text, size_t from) const {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2 ? next_avx2(text, from) : next_plain(text, from);
}

#else

size_t NeedleFilter::next(std::string_view text, size_t from) const {
  return next_plain(text, from);
}

#endif

}  // namespace ncclog
