#include <gtest/gtest.h>

#include "replay/judge/verdict.h"

namespace ncclog {
namespace {

using Texts = std::vector<std::string>;

ReplayTiming row(const char* settings, double median, double least, double most) {
  ReplayTiming row{.settings = settings};
  row.timing.op = "AllReduce";
  row.timing.bytes = 4096;
  row.timing.median_us = median;
  row.timing.least_us = least;
  row.timing.most_us = most;
  return row;
}

TEST(TimeComparisons, ConcludeWhereSpreadsDoNotOverlap) {
  const ReplayTiming rows[] = {row("NCCL_P2P_DISABLE=0", 897.9, 880, 910),
                               row("NCCL_P2P_DISABLE=1", 9651.9, 9600, 9700)};
  EXPECT_EQ(time_comparisons(rows),
            Texts{"AllReduce of 4096 bytes: NCCL_P2P_DISABLE=1 takes 10.7 times as long as "
                  "NCCL_P2P_DISABLE=0 (9651.9 against 897.9 us)."});
}

TEST(TimeComparisons, ShowNothingWithinTheSpread) {
  const ReplayTiming rows[] = {row("NCCL_ALGO=Ring", 20, 18, 24),
                               row("NCCL_ALGO=Tree", 25, 24, 30)};
  EXPECT_EQ(time_comparisons(rows),
            Texts{"AllReduce of 4096 bytes: no difference beyond the spread between "
                  "NCCL_ALGO=Tree and NCCL_ALGO=Ring."});
}

TEST(TimeComparisons, AreOfVariedSettingsOnly) {
  const ReplayTiming rows[] = {row("", 20, 18, 24), row("", 50, 48, 60)};
  EXPECT_EQ(time_comparisons(rows), Texts{});
}

}  // namespace
}  // namespace ncclog
