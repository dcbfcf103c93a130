#include "diagnose/perf/measured/measurement.h"

#include <gtest/gtest.h>

namespace ncclog {
namespace {

TEST(RankCount, OneRowTellsAsMuchAsItsDigits) {
  // 2 (n - 1) / n of 128 ranks; and of 1440, which five digits leave open by a few dozen.
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 17179869184, "92173", "369.86"),
            (RankRange{128, 128}));
  const RankRange many = ranks_by_row(Operation::AllReduce, 17179869184, "84625", "405.74");
  EXPECT_TRUE(many.holds(1440));
  EXPECT_LT(many.most - many.least, 100);
  EXPECT_EQ(ranks_by_row(Operation::AllGather, 67108864, "1480.0", "34.01"), (RankRange{4, 4}));
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 67108864, "67.75", "0.00"), (RankRange{1, 1}));
}

TEST(RankCount, WhatSaysNothingIsUnbounded) {
  EXPECT_EQ(ranks_by_row(Operation::SendRecv, 67108864, "1480.0", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::Unknown, 67108864, "1480.0", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 67108864, "N/A", "45.34"), RankRange{});
  EXPECT_EQ(ranks_by_row(Operation::AllReduce, 0, "6.28", "0.00"), RankRange{});
  EXPECT_FALSE(ranks_by_row(Operation::AllReduce, 8, "85.14", "0.00").is_bounded());
  // Twice what the operation can have: another definition.
  EXPECT_TRUE(ranks_by_row(Operation::AllReduce, 67108864, "1500.0", "134.2").is_empty());
}

TEST(RankCount, WholeHostsAreLikelier) {
  EXPECT_EQ(likeliest_in({127, 130}), 128);
  EXPECT_EQ(likeliest_in({1411, 1471}), 1440);
  EXPECT_EQ(likeliest_in({11, 13}), 12);
  EXPECT_EQ(likeliest_in({5, 7}), 6);
  EXPECT_EQ(likeliest_in({3, 3}), 3);
  EXPECT_EQ(likeliest_in(RankRange{}), -1);
  EXPECT_EQ(likeliest_in({4, 2}), -1);
}

TEST(RankCount, RoundingIsThatOfTheLastDigit) {
  EXPECT_DOUBLE_EQ(rounding_of("369.86"), 0.005);
  EXPECT_DOUBLE_EQ(rounding_of("92173"), 0.5);
  EXPECT_DOUBLE_EQ(rounding_of("1.1e+07"), 500000);
}

}  // namespace
}  // namespace ncclog
