// Which value does a rank send at a place, and which one must arrive?
//
//   AllReduce, sum, float8e5m2, 2 ranks: element 7 is 3 on rank 0 and 1 on rank 1 → 4 on both
//   AllGather of 1024: element 1031 of the result is what rank 1 sends as its element 7
//
// Host and device compute the same: kernels fill and compare by these functions, tests prove them
// on the host. C++17, because nvcc reads this file too.
//
// What is only moved is any bits. What is reduced is chosen so that the result is exact, and the
// same in whatever order ranks are combined:
//   integers       any bits for sum, max and min, odd ones for prod: they wrap; small ones for avg
//   floats, sum    integers whose sum stays within what the mantissa holds; where that is less than
//                  one for each rank, a window of ranks sends 0 or 1 and the others 0
//   floats, avg    the same; exact if the number of ranks is a power of two, else within a
//                  tolerance
//   floats, prod   ±1 of all ranks, ±1/2 or ±2 of three of them
//   floats, max    integers around 0
// Datatypes and reductions are the numbers of nccl.h (2.28.9).

#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define NCCLOG_SHARED __host__ __device__
#else
#define NCCLOG_SHARED
#endif

namespace ncclog {

/// What a call sends and receives on one rank. Made by pattern_of().
struct DataPattern {
  uint64_t key = 0;      ///< Equal on all ranks that meet in the call.
  int datatype = 0;      ///< ncclDataType_t.
  int redop = -1;        ///< ncclRedOp_t; -1: data are only moved.
  int nranks = 1;        ///< Of the communicator.
  int rank = 0;          ///< In it: who sends.
  int source = -1;       ///< Moved: whose data arrive; -1: a block of each rank.
  int64_t block = 1;     ///< Elements of such a block; at least 1.
  int64_t first = 0;     ///< Of the sender's elements, the one that arrives first.
  int contributors = 1;  ///< Reduced: so many ranks send something that is not neutral.
  uint64_t mask = 0;     ///< Of their values for sum and avg, of all values for max and min.
  double tolerance = 0;  ///< Relative; 0: the result is exact to the bit.
};

/// How a floating-point datatype lays out its bits, the sign in front; mantissa 0: an integer.
struct FloatFormat {
  int exponent = 0;
  int mantissa = 0;
};

/// int8, int32, int64; `datatype` is ncclDataType_t.
NCCLOG_SHARED constexpr bool is_signed_integer(int datatype) {
  return datatype == 0 || datatype == 2 || datatype == 4;
}

/// Of float16, float32, float64, bfloat16, float8e4m3, float8e5m2; {0, 0} for all others.
NCCLOG_SHARED constexpr FloatFormat float_format(int datatype) {
  // By ncclDataType_t, from ncclFloat16 on.
  const FloatFormat formats[] = {{5, 10}, {8, 23}, {11, 52}, {8, 7}, {4, 3}, {5, 2}};
  return datatype >= 6 && datatype <= 11 ? formats[datatype - 6] : FloatFormat{0, 0};
}

NCCLOG_SHARED constexpr bool is_float(int datatype) { return float_format(datatype).mantissa > 0; }

/// Bytes of an element; 0 for a number that is no datatype.
NCCLOG_SHARED constexpr int element_bytes(int datatype) {
  if (is_float(datatype)) {
    return (1 + float_format(datatype).exponent + float_format(datatype).mantissa) / 8;
  }
  if (datatype < 0 || datatype > 5) return 0;
  return datatype < 2 ? 1 : (datatype < 4 ? 4 : 8);
}

/// Bits that an element has.
NCCLOG_SHARED constexpr uint64_t element_mask(int datatype) {
  return element_bytes(datatype) == 8 ? ~0ULL : (1ULL << (8 * element_bytes(datatype))) - 1;
}

/// A number whose bits all depend on all bits of `x`. The factors are digits of pi and e.
NCCLOG_SHARED constexpr uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0x243f6a8885a308d3ULL;
  x ^= x >> 29;
  x *= 0xb7e151628aed2a6bULL;
  return x ^ (x >> 32);
}

/// What all ranks know of an element.
NCCLOG_SHARED constexpr uint64_t element_seed(uint64_t key, int64_t element) {
  return mixed(key ^ mixed(static_cast<uint64_t>(element)));
}

/// What one rank adds to that.
NCCLOG_SHARED constexpr uint64_t rank_bits(uint64_t seed, int rank) {
  return mixed(seed + static_cast<uint64_t>(rank + 1) * 0x9e3779b97f4a7c15ULL);
}

/// The bits of `value`, which the format has to hold exactly; what it cannot hold is cut off.
NCCLOG_SHARED inline uint64_t encode_float(double value, FloatFormat format) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  if (format.mantissa == 52) return bits;
  const uint64_t sign = (bits >> 63) << (format.exponent + format.mantissa);
  if (bits << 1 == 0) return sign;
  const int bias = (1 << (format.exponent - 1)) - 1;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023 + bias;
  const uint64_t fraction = bits & ((1ULL << 52) - 1);
  const int cut = 52 - format.mantissa;
  if (exponent > 0) {
    return sign | (static_cast<uint64_t>(exponent) << format.mantissa) | (fraction >> cut);
  }
  if (exponent < -52) return sign;
  const uint64_t whole = (1ULL << 52) | fraction;
  return cut + 1 - exponent > 63 ? sign : sign | (whole >> (cut + 1 - exponent));
}

/// The double with these bits.
NCCLOG_SHARED inline double double_of(uint64_t bits) {
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Two to the power of `exponent`, which double holds as a normal number.
NCCLOG_SHARED inline double power_of_two(int exponent) {
  return double_of(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// The value of `bits`; infinity and NaN become a NaN, which is near nothing.
NCCLOG_SHARED inline double decode_float(uint64_t bits, FloatFormat format) {
  if (format.mantissa == 52) return double_of(bits);
  const uint64_t most = (1ULL << format.exponent) - 1;
  const uint64_t exponent = (bits >> format.mantissa) & most;
  const uint64_t mantissa = bits & ((1ULL << format.mantissa) - 1);
  const int bias = (1 << (format.exponent - 1)) - 1;
  const double sign = (bits >> (format.exponent + format.mantissa)) & 1 ? -1.0 : 1.0;
  const double unit = power_of_two(-format.mantissa);
  if (exponent == 0) return sign * static_cast<double>(mantissa) * unit * power_of_two(1 - bias);
  // float8e4m3 has no infinity: its largest exponent counts like any other, but for one NaN.
  const bool is_e4m3 = format.exponent == 4 && format.mantissa == 3;
  if (exponent == most && (!is_e4m3 || mantissa == 7)) return double_of(0x7ff8000000000000ULL);
  return sign * (1.0 + static_cast<double>(mantissa) * unit) *
         power_of_two(static_cast<int>(exponent) - bias);
}

/// `bits` as the signed integer of the datatype.
NCCLOG_SHARED constexpr int64_t as_signed(uint64_t bits, int datatype) {
  const int unused = 64 - 8 * element_bytes(datatype);
  return static_cast<int64_t>(bits << unused) >> unused;
}

/// Whether `rank` is one of `width` ranks from a place that depends on the element.
NCCLOG_SHARED inline bool is_in_window(uint64_t seed, int rank, int nranks, int width) {
  const int start = static_cast<int>(static_cast<uint32_t>(seed >> 32) % nranks);
  const int distance = rank - start;
  return (distance < 0 ? distance + nranks : distance) < width;
}

/// What a rank sends for sum and avg where it must be small.
NCCLOG_SHARED inline uint64_t small_addend(const DataPattern& pattern, uint64_t seed, int rank) {
  if (!is_in_window(seed, rank, pattern.nranks, pattern.contributors)) return 0;
  return rank_bits(seed, rank) & pattern.mask;
}

/// What a rank gives to a product: a sign, of few ranks also a factor of 2 or 0.5.
NCCLOG_SHARED inline double float_factor(uint64_t seed, int rank, int nranks) {
  const uint64_t bits = rank_bits(seed, rank);
  const double sign = bits & 1 ? -1.0 : 1.0;
  if (!is_in_window(seed, rank, nranks, 3)) return sign;
  const int choice = static_cast<int>((bits >> 8) & 3);
  return sign * (choice == 0 ? 0.5 : (choice == 1 ? 2.0 : 1.0));
}

/// What `rank` adds to a reduction, as a number. Floats only.
NCCLOG_SHARED inline double float_contribution(const DataPattern& pattern, uint64_t seed,
                                               int rank) {
  if (pattern.redop == 1) return float_factor(seed, rank, pattern.nranks);
  if (pattern.redop == 2 || pattern.redop == 3) {
    const auto middle = (pattern.mask + 1) / 2;
    return static_cast<double>(rank_bits(seed, rank) & pattern.mask) - static_cast<double>(middle);
  }
  return static_cast<double>(small_addend(pattern, seed, rank));
}

/// Likewise as the bits of an integer.
NCCLOG_SHARED inline uint64_t integer_contribution(const DataPattern& pattern, uint64_t seed,
                                                   int rank) {
  const uint64_t all = element_mask(pattern.datatype);
  if (pattern.redop == 4) return small_addend(pattern, seed, rank);
  if (pattern.redop == 1) return (rank_bits(seed, rank) | 1) & all;
  return rank_bits(seed, rank) & all;
}

/// The bits that `rank` sends as its element `element`.
NCCLOG_SHARED inline uint64_t sent_bits(const DataPattern& pattern, int rank, int64_t element) {
  const uint64_t seed = element_seed(pattern.key, element);
  if (pattern.redop < 0) return rank_bits(seed, rank) & element_mask(pattern.datatype);
  if (!is_float(pattern.datatype)) return integer_contribution(pattern, seed, rank);
  return encode_float(float_contribution(pattern, seed, rank), float_format(pattern.datatype));
}

/// One step of a reduction; avg (4) adds, like sum, and is divided at the end.
NCCLOG_SHARED inline double combine_floats(int redop, double a, double b) {
  if (redop == 1) return a * b;
  if (redop == 2) return a > b ? a : b;
  if (redop == 3) return a < b ? a : b;
  return a + b;
}

/// The same of integers, in as many bits as the datatype has.
NCCLOG_SHARED inline uint64_t combine_integers(int redop, uint64_t a, uint64_t b, int datatype) {
  if (redop == 1) return a * b;
  if (redop != 2 && redop != 3) return a + b;
  const bool is_greater =
      is_signed_integer(datatype) ? as_signed(a, datatype) > as_signed(b, datatype) : a > b;
  return is_greater == (redop == 2) ? a : b;
}

/// The reduction of what all ranks send for an element. Floats only.
NCCLOG_SHARED inline double reduced_float(const DataPattern& pattern, uint64_t seed) {
  double result = float_contribution(pattern, seed, 0);
  for (int rank = 1; rank < pattern.nranks; ++rank) {
    result = combine_floats(pattern.redop, result, float_contribution(pattern, seed, rank));
  }
  return pattern.redop == 4 ? result / pattern.nranks : result;
}

NCCLOG_SHARED inline uint64_t reduced_integer(const DataPattern& pattern, uint64_t seed) {
  uint64_t result = integer_contribution(pattern, seed, 0);
  for (int rank = 1; rank < pattern.nranks; ++rank) {
    result = combine_integers(pattern.redop, result, integer_contribution(pattern, seed, rank),
                              pattern.datatype);
  }
  if (pattern.redop == 4) result /= static_cast<uint64_t>(pattern.nranks);
  return result & element_mask(pattern.datatype);
}

/// The bits that must have arrived as element `element`.
NCCLOG_SHARED inline uint64_t expected_bits(const DataPattern& pattern, int64_t element) {
  if (pattern.redop >= 0) {
    const uint64_t seed = element_seed(pattern.key, pattern.first + element);
    if (!is_float(pattern.datatype)) return reduced_integer(pattern, seed);
    return encode_float(reduced_float(pattern, seed), float_format(pattern.datatype));
  }
  if (pattern.source >= 0) return sent_bits(pattern, pattern.source, pattern.first + element);
  return sent_bits(pattern, static_cast<int>(element / pattern.block),
                   pattern.first + element % pattern.block);
}

/// Whether `found` may stand where `expected_bits` are due.
NCCLOG_SHARED inline bool is_right(const DataPattern& pattern, int64_t element, uint64_t found) {
  if (pattern.tolerance == 0) return found == expected_bits(pattern, element);
  const FloatFormat format = float_format(pattern.datatype);
  const uint64_t seed = element_seed(pattern.key, pattern.first + element);
  const double expected = reduced_float(pattern, seed);
  const double apart = decode_float(found, format) - expected;
  const int bias = (1 << (format.exponent - 1)) - 1;
  const double least = format.mantissa == 52 ? 0 : power_of_two(1 - bias - format.mantissa);
  const double allowed = pattern.tolerance * expected + least * pattern.contributors;
  return apart <= allowed && -apart <= allowed;
}

// What did a comparison on the GPU find?
//
//   4096 elements of call 28 are wrong, the first is element 1024: 0x3f800000 instead of 0x40400000
//
// Kernels write it, the host reads it.

/// Of one call. Lies in the GPU's memory while it runs; starts as it is made here.
struct ComparedElements {
  static constexpr unsigned long long kNone = ~0ULL;

  unsigned long long wrong = 0;      ///< How many elements are not what they have to be.
  unsigned long long first = kNone;  ///< The lowest of them.
  unsigned long long expected = 0;   ///< Its bits.
  unsigned long long found = 0;
};

}  // namespace ncclog
