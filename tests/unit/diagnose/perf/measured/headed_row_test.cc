// Rows of tables whose headings name their columns, in the units of nccl-tests.

#include "diagnose/perf/measured/headed_row.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ncclog {
namespace {

/// "AllReduce 16 67108864 B 2651.00 us alg 25.31 bus 47.46".
std::string words(const HeadedRow& row) {
  const std::string_view op = row.op == Operation::Unknown ? "Unknown" : name_of(row.op);
  return fmt::format("{} {} {} B {:.2f} us alg {:.2f} bus {:.2f}", op, row.nranks, row.bytes,
                     row.value.time_us, row.value.algbw, row.value.busbw);
}

std::string row(std::string_view heading, std::string_view cells) {
  return words(read_headed_row(heading, cells));
}

TEST(HeadedRow, UnitsStandInTheHeadingOrInTheCell) {
  EXPECT_EQ(row("| Op | Ranks | Size | Time (ms) | AlgBW (GB/s) | BusBW (GB/s) |",
                "| `all_reduce` | 16 | 64MiB | 2.651 | 25.31 | 47.46 |"),
            "AllReduce 16 67108864 B 2651.00 us alg 25.31 bus 47.46");
  EXPECT_EQ(row("bytes time_us algbw busbw", "67108864 2651 25.31 47.46"),
            "Unknown -1 67108864 B 2651.00 us alg 25.31 bus 47.46");
  EXPECT_EQ(row("Size  Time  BusBW", "8.00 KB   7.17 us   0.857"),
            "Unknown -1 8000 B 7.17 us alg -1.00 bus 0.86");
}

TEST(HeadedRow, AMegabyteIsWhatTheBandwidthShows) {
  EXPECT_EQ(row("Size(MB) Time(ms) AlgBW(GB/s)", "64 2.651 25.31"),
            "Unknown -1 67108864 B 2651.00 us alg 25.31 bus -1.00")
      << "2^20";
  EXPECT_EQ(row("Size(MB) Time(ms) AlgBW(GB/s)", "64 2.651 24.14"),
            "Unknown -1 64000000 B 2651.00 us alg 24.14 bus -1.00")
      << "10^6";
}

TEST(HeadedRow, BandwidthOfNoKindIsTheAlgorithmsWhereTheTimeShowsIt) {
  EXPECT_EQ(row("size(MB) tavg(usec) avgbw(GB/sec)", "1.00 121.5 14.41"),
            "Unknown -1 1000000 B 121.50 us alg -1.00 bus 14.41");
  EXPECT_EQ(row("size(MB) tavg(usec) bw(GB/sec)", "1.00 121.5 8.23"),
            "Unknown -1 1000000 B 121.50 us alg 8.23 bus -1.00");
}

TEST(HeadedRow, GigabitsAreBroughtToGigabytes) {
  EXPECT_EQ(row("bytes time_us algbw_gbps busbw_gbps", "67108864 2651 202.5 379.7"),
            "Unknown -1 67108864 B 2651.00 us alg 25.31 bus 47.46")
      << "the size by the time shows bits";
  EXPECT_EQ(row("bytes time_us busbw(Gbps)", "67108864 2651 379.7"),
            "Unknown -1 67108864 B 2651.00 us alg -1.00 bus 47.46");
}

TEST(HeadedRow, ALineNamesItsValues) {
  EXPECT_EQ(words(read_labelled_row("all_reduce 64.0 MB: busbw 47.46 GB/s", "64.0 MB", "47.46")),
            "AllReduce -1 64000000 B -1.00 us alg -1.00 bus 47.46");
}

TEST(HeadedRow, WhatIsNoNumberIsNotSaid) {
  EXPECT_EQ(row("Size Time BusBW", "n/a n/a n/a"), "Unknown -1 -1 B -1.00 us alg -1.00 bus -1.00");
  EXPECT_EQ(row("", "1 2 3"), "Unknown -1 -1 B -1.00 us alg -1.00 bus -1.00");
  EXPECT_EQ(row("Size(TB) Time(us) BusBW", "9999999999999 1 1"),
            "Unknown -1 -1 B 1.00 us alg -1.00 bus 1.00");
}

}  // namespace
}  // namespace ncclog
