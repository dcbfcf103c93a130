#include "replay/run/pattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/collectives.h"
#include "replay/plan/plan.h"
#include "replay/run/rank_plan.h"

namespace ncclog {
namespace {

constexpr int kDatatypes = 12;

PlannedCall reduction(int datatype, int redop) {
  return {.index = 28, .op = "AllReduce", .count = 64, .datatype = datatype, .redop = redop};
}

/// What a GPU holds: each number is cut to the datatype, as each step of a reduction does it.
double rounded(double value, int datatype) {
  const FloatFormat format = float_format(datatype);
  return decode_float(encode_float(value, format), format);
}

/// Reduces in the datatype itself, ranks from `start` on in a ring: another order for each start.
uint64_t reduced_in_ring(const DataPattern& pattern, int64_t element, int start) {
  const FloatFormat format = float_format(pattern.datatype);
  uint64_t bits = sent_bits(pattern, start, element);
  for (int step = 1; step < pattern.nranks; ++step) {
    const uint64_t next = sent_bits(pattern, (start + step) % pattern.nranks, element);
    if (is_float(pattern.datatype)) {
      const double sum =
          combine_floats(pattern.redop, decode_float(bits, format), decode_float(next, format));
      EXPECT_EQ(rounded(sum, pattern.datatype), sum) << "not exact";
      bits = encode_float(sum, format);
    } else {
      bits = combine_integers(pattern.redop, bits, next, pattern.datatype) &
             element_mask(pattern.datatype);
    }
  }
  return bits;
}

TEST(CallPattern, ElementsHaveTheSizesOfTheirDatatypes) {
  for (int datatype = 0; datatype < kDatatypes; ++datatype) {
    EXPECT_EQ(element_bytes(datatype), datatype_bytes(datatype)) << datatype_name(datatype);
  }
  EXPECT_EQ(element_bytes(12), 0);
  EXPECT_EQ(element_bytes(-1), 0);
}

struct FloatRow {
  int datatype;
  double value;
  uint64_t bits;
};

TEST(CallPattern, FloatsAreEncodedAsTheirFormatsSay) {
  const FloatRow rows[] = {{6, 1.0, 0x3c00},
                           {6, -2.0, 0xc000},
                           {6, 2048.0, 0x6800},
                           {6, 0x1p-24, 0x0001},
                           {7, 3.0, 0x40400000},
                           {7, 0.0, 0},
                           {8, 1.0, 0x3ff0000000000000},
                           {9, 1.0, 0x3f80},
                           {9, 255.0, 0x437f},
                           {10, 1.0, 0x38},
                           {10, 16.0, 0x58},
                           {10, 0x1p-9, 0x01},
                           {10, 448.0, 0x7e},
                           {11, 1.0, 0x3c},
                           {11, 7.0, 0x47},
                           {11, -0.5, 0xb8}};
  for (const FloatRow& row : rows) {
    const FloatFormat format = float_format(row.datatype);
    EXPECT_EQ(encode_float(row.value, format), row.bits) << row.value;
    EXPECT_EQ(decode_float(row.bits, format), row.value) << row.bits;
  }
}

TEST(CallPattern, WhatIsNoNumberIsNearNothing) {
  EXPECT_TRUE(std::isnan(decode_float(0x7c00, float_format(6))));
  EXPECT_TRUE(std::isnan(decode_float(0x7f, float_format(10))));
  EXPECT_TRUE(std::isnan(decode_float(0x7c, float_format(11))));
}

TEST(CallPattern, ReductionsAreExactInEveryOrderAndDatatype) {
  for (int nranks : {2, 3, 8, 16, 64}) {
    for (int datatype = 0; datatype < kDatatypes; ++datatype) {
      for (int redop = 0; redop < 4; ++redop) {
        const DataPattern pattern = pattern_of(reduction(datatype, redop), 0, nranks);
        for (int64_t element = 0; element < 40; ++element) {
          const uint64_t expected = expected_bits(pattern, element);
          ASSERT_EQ(reduced_in_ring(pattern, element, 0), expected)
              << nranks << ' ' << datatype_name(datatype) << ' ' << reduction_name(redop);
          ASSERT_EQ(reduced_in_ring(pattern, element, nranks / 2), expected);
        }
      }
    }
  }
}

TEST(CallPattern, AveragesAreExactForPowersOfTwo) {
  for (int nranks : {2, 8, 64}) {
    for (int datatype = 6; datatype < kDatatypes; ++datatype) {
      const DataPattern pattern = pattern_of(reduction(datatype, 4), 0, nranks);
      EXPECT_EQ(pattern.tolerance, 0);
      for (int64_t element = 0; element < 64; ++element) {
        const double mean = reduced_float(pattern, element_seed(pattern.key, element));
        EXPECT_EQ(rounded(mean, datatype), mean) << nranks << ' ' << datatype_name(datatype);
      }
    }
  }
}

/// As NCCL does it: each rank's share is multiplied by 1/n, both in the datatype.
TEST(CallPattern, OtherAveragesHaveATolerance) {
  for (int nranks : {3, 6, 48}) {
    for (int datatype = 6; datatype < kDatatypes; ++datatype) {
      const DataPattern pattern = pattern_of(reduction(datatype, 4), 0, nranks);
      const FloatFormat format = float_format(datatype);
      const double share = rounded(1.0 / nranks, datatype);
      for (int64_t element = 0; element < 64; ++element) {
        double sum = 0;
        for (int rank = 0; rank < nranks; ++rank) {
          const double sent = decode_float(sent_bits(pattern, rank, element), format);
          sum = rounded(sum + rounded(sent * share, datatype), datatype);
        }
        EXPECT_TRUE(is_right(pattern, element, encode_float(sum, format)))
            << nranks << ' ' << datatype_name(datatype) << ' ' << sum;
        EXPECT_FALSE(is_right(pattern, element, encode_float(sum + 8, format)));
      }
    }
  }
}

TEST(CallPattern, IntegerAveragesDoNotOverflow) {
  for (int datatype : {0, 1, 4}) {
    const DataPattern pattern = pattern_of(reduction(datatype, 4), 0, 8);
    for (int64_t element = 0; element < 64; ++element) {
      uint64_t sum = 0;
      for (int rank = 0; rank < 8; ++rank) sum += sent_bits(pattern, rank, element);
      EXPECT_LE(sum, 127U);
      EXPECT_EQ(expected_bits(pattern, element), sum / 8);
    }
  }
}

TEST(CallPattern, EveryRankCounts) {
  for (int datatype = 0; datatype < kDatatypes; ++datatype) {
    const DataPattern pattern = pattern_of(reduction(datatype, 0), 0, 64);
    for (int rank = 0; rank < 64; ++rank) {
      bool counts = false;
      for (int64_t element = 0; element < 4096; ++element) {
        counts = counts || sent_bits(pattern, rank, element) != 0;
      }
      EXPECT_TRUE(counts) << datatype_name(datatype) << " of rank " << rank;
    }
  }
}

struct Origin {
  const char* op;
  int rank;
  int64_t element;
  int source;
  int64_t sent_as;
};

/// Three ranks, blocks of four elements, root 1.
TEST(CallPattern, WhatArrivesIsWhatNcclHIsToldToMove) {
  const Origin rows[] = {{"Broadcast", 2, 3, 1, 3},  {"AllGather", 0, 6, 1, 2},
                         {"AllGather", 2, 11, 2, 3}, {"Gather", 1, 9, 2, 1},
                         {"Scatter", 2, 3, 1, 11},   {"Scatter", 0, 0, 1, 0},
                         {"AlltoAll", 2, 5, 1, 9},   {"AlltoAll", 0, 11, 2, 3}};
  for (const Origin& row : rows) {
    const PlannedCall call{.index = 5, .op = row.op, .count = 4, .datatype = 7, .root = 1};
    const DataPattern receiver = pattern_of(call, row.rank, 3);
    const DataPattern sender = pattern_of(call, row.source, 3);
    EXPECT_EQ(expected_bits(receiver, row.element), sent_bits(sender, row.source, row.sent_as))
        << row.op << " element " << row.element;
  }
}

TEST(CallPattern, ReduceScatterGivesEachRankItsBlock) {
  const PlannedCall call{.op = "ReduceScatter", .count = 4, .datatype = 2, .redop = 0};
  const DataPattern pattern = pattern_of(call, 2, 3);
  uint64_t sum = 0;
  for (int rank = 0; rank < 3; ++rank) sum += sent_bits(pattern, rank, 2 * 4 + 1);
  EXPECT_EQ(expected_bits(pattern, 1), sum & 0xffffffff);
}

TEST(CallPattern, TheEndsOfAMessageAgree) {
  const PlannedCall send{.index = 3, .op = "Send", .count = 4, .datatype = 7, .root = 1};
  const PlannedCall recv{.index = 3, .op = "Recv", .count = 4, .datatype = 7, .root = 0};
  const DataPattern sender = pattern_of(send, 0, 2);
  EXPECT_EQ(expected_bits(pattern_of(recv, 1, 2), 2), sent_bits(sender, 0, 2));
  EXPECT_NE(sender.key, pattern_of(send, 2, 3).key) << "another sender";
}

TEST(CallPattern, AnotherCallHasOtherValues) {
  PlannedCall call = reduction(7, 0);
  const DataPattern one = pattern_of(call, 0, 2);
  call.index = 29;
  EXPECT_NE(one.key, pattern_of(call, 0, 2).key);
  call.index = 28;
  call.communicator = 1;
  EXPECT_NE(one.key, pattern_of(call, 0, 2).key);
}

TEST(CallPattern, OnlyKnownResultsAreCompared) {
  EXPECT_TRUE(is_compared(reduction(7, 4)));
  EXPECT_FALSE(is_compared(reduction(7, 5)));
  EXPECT_TRUE(is_compared({.op = "AllGather", .redop = 9}));
  EXPECT_FALSE(is_compared({.op = "AlltoAll", .in_place = true}));
}

TEST(CallPattern, ElementsAreWrittenAsTheirTypeHasThem) {
  EXPECT_EQ(element_text({.datatype = 0, .redop = 0}, 0xff), "-1");
  EXPECT_EQ(element_text({.datatype = 1, .redop = 0}, 0xff), "255");
  EXPECT_EQ(element_text({.datatype = 6, .redop = 1}, 0xb800), "-0.5");
  EXPECT_EQ(element_text({.datatype = 6, .redop = -1}, 0x42), "0x0042");
}

}  // namespace
}  // namespace ncclog
