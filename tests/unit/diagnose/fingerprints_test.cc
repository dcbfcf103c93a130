#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fact_of.h"
#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::fact_of;
using testing::guilty_answer;

constexpr std::string_view kNoticed = "job.mismatch_noticed";

/// What rank `global` of the job, `rank` in its group, says: it gathers `own`, `other` gathers
/// `theirs`.
std::string report(int global, int rank, int own, int other, int theirs) {
  return fmt::format(
      "[rank{}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {} is running "
      "collective: CollectiveFingerPrint(SequenceNumber=7, OpType=_ALLGATHER_BASE, "
      "TensorShape=[{}], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float)), but "
      "Rank {} is running collective: CollectiveFingerPrint(SequenceNumber=7, "
      "OpType=_ALLGATHER_BASE, TensorShape=[{}], TensorDtypes=Float, "
      "TensorDeviceTypes=TensorOptions(dtype=float)).Collectives differ in the following aspects: "
      "  Tensor Tensor shapes: {}vs {}\n",
      global, rank, own, other, theirs, own, theirs);
}

TEST(Fingerprints, NameTheRankThatCallsWhatNobodyElseCalls) {
  const std::string log =
      report(2, 2, 8, 1, 4) + report(0, 0, 8, 1, 4) + report(3, 3, 8, 1, 4) + report(1, 1, 4, 0, 8);
  EXPECT_EQ(guilty_answer(kNoticed, log), "yes 1");
  EXPECT_EQ(fact_of(kNoticed, log).what,
            "PyTorch's check: rank 1 called SequenceNumber=7, OpType=_ALLGATHER_BASE, "
            "TensorShape=[4], TensorDtypes=Float, the other 3 ranks SequenceNumber=7, "
            "OpType=_ALLGATHER_BASE, TensorShape=[8], TensorDtypes=Float");
}

TEST(Fingerprints, CountThoseThatAReportPassedOver) {
  // The first one that differs from rank 3 is rank 2, so ranks 0 and 1 do not.
  EXPECT_EQ(guilty_answer(kNoticed, report(3, 3, 8, 2, 4)), "yes 2");
}

TEST(Fingerprints, NameNobodyWithoutAMajority) {
  EXPECT_EQ(guilty_answer(kNoticed, report(0, 0, 8, 1, 4)), "yes");
  EXPECT_EQ(guilty_answer(kNoticed, report(0, 0, 8, 1, 4) + report(1, 1, 4, 0, 8) +
                                        report(2, 2, 8, 1, 4) + report(3, 3, 4, 0, 8)),
            "yes");
  // Another call, in which the other one is odd.
  EXPECT_EQ(guilty_answer(kNoticed, report(2, 2, 8, 1, 4) + report(2, 2, 6, 0, 5)), "yes");
}

TEST(Fingerprints, TakeRanksOfAGroupForNoRanksOfTheJob) {
  // Ranks 4 to 7 of the job; the odd one reports itself.
  EXPECT_EQ(guilty_answer(kNoticed, report(6, 2, 8, 1, 4) + report(5, 1, 4, 0, 8)), "yes 5");
  EXPECT_EQ(guilty_answer(kNoticed, report(6, 2, 8, 1, 4)), "yes");
}

}  // namespace
}  // namespace ncclog
