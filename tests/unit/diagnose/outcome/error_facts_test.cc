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

}  // namespace

}  // namespace ncclog
