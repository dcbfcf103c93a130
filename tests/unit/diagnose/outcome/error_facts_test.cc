#include <gtest/gtest.h>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::fact_of;

constexpr std::string_view kWrong = "job.nccl_tests_wrong";
const std::string kGood = "8388608 2097152 float sum -1 49.3 1.71 3.20 0 50.1 1.67 3.14 0\n";
const std::string kBad = "16777216 4194304 float sum -1 49.3 1.71 3.20 0 50.1 1.67 3.14 7\n";

TEST(NcclTestsFacts, SeeWrongValuesInRowsAndSums) {
  EXPECT_EQ(answer_of(kWrong, "nothing\n"), "unknown");
  EXPECT_EQ(answer_of(kWrong, kGood), "no");
  EXPECT_EQ(answer_of(kWrong, kGood + "# Out of bounds values : 3 FAILED\n"), "yes");
  const FactValue value = fact_of(kWrong, kGood + kBad);
  EXPECT_EQ(value.what, "nccl-tests counts wrong values in 1 of 2 rows, first at 16 MiB float sum");
  ASSERT_EQ(value.evidence.size(), 1u);
  EXPECT_EQ(value.evidence.front().where.line, 2u);
  EXPECT_EQ(value.evidence.front().text + "\n", kBad);
}

TEST(NcclTestsFacts, DoNotTakeTheErrorsOfOldReleasesForCounts) {
  EXPECT_EQ(answer_of(kWrong,
                      "1048576 262144 float sum 819.0 1.28 1.92 4e+00 801.3 1.31 1.96 "
                      "2e-07\n# Out of bounds values : 0 OK\n"),
            "no");
}

TEST(NcclTestsFacts, SeeWhatNcclTestsCallsTooSlow) {
  EXPECT_EQ(answer_of("job.nccl_tests_slow", kGood + "# Avg bus bandwidth    : 3.17 FAILED\n"),
            "yes");
  EXPECT_EQ(answer_of("job.nccl_tests_slow", kGood + "# Avg bus bandwidth    : 3.17\n"), "no");
}

/// What NCCL's search promises: channels times GB/s inside a host, and between hosts.
std::string promise(std::string_view channels, std::string_view bw) {
  return "n1:7:7 [0] NCCL INFO Pattern 4, crossNic 0, nChannels " + std::string(channels) +
         ", bw " + std::string(bw) + ", type PIX/PIX, sameChannels 1\n";
}

TEST(NcclTestsFacts, HoldTheMeasuredBandwidthAgainstWhatNcclReckonsWith) {
  constexpr std::string_view kNormal = "job.nccl_tests_normal";
  EXPECT_EQ(fact_of(kNormal, promise("1", "5.0/1.0") + kGood).what,
            "nccl-tests reaches 3.2 GB/s where NCCL reckons with 5");
  EXPECT_EQ(answer_of(kNormal, promise("2", "5.0/1.0") + kGood), "no");
  EXPECT_EQ(answer_of(kNormal, promise("2", "5.0/2.0") + kGood +
                                   "n2:8:8 [0] NCCL INFO Using network Socket\n"),
            "yes");
  EXPECT_EQ(answer_of(kNormal, kGood), "unknown");
  EXPECT_EQ(answer_of(kNormal,
                      promise("1", "5.0/1.0") + kGood + "# Avg bus bandwidth    : 3.17 FAILED\n"),
            "no");
}

}  // namespace

}  // namespace ncclog
