#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/call_log.h"
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

using testing::CallLog;
using testing::fact_of;
using testing::guilty_answer;
using testing::GuiltyCase;

constexpr std::string_view kMismatched = "job.collectives_mismatched";
constexpr std::string_view kDiffer = "job.collectives_differ";

CallLog inits(int nranks) {
  CallLog log;
  for (int rank = 0; rank < nranks; ++rank) log.init(rank, nranks, 1);
  return log;
}

/// Each rank makes one call with its own number of elements.
CallLog counts(const std::vector<int64_t>& of_ranks) {
  CallLog log = inits(static_cast<int>(of_ranks.size()));
  for (size_t rank = 0; rank < of_ranks.size(); ++rank) {
    log.call(static_cast<int>(rank), 1, "AllReduce", of_ranks[rank]);
  }
  return log;
}

/// Pairs of ranks, each a communicator that made one call; the second rank of pair 0 is odd.
CallLog pairs(int number) {
  CallLog log;
  for (int pair = 0; pair < number; ++pair) {
    const auto id = static_cast<uint64_t>(pair + 1);
    log.init(2 * pair, 2, id, 0).init(2 * pair + 1, 2, id, 1);
    log.call(2 * pair, id).call(2 * pair + 1, id, "AllReduce", pair == 0 ? 64 : 512);
  }
  return log;
}

/// Two ranks in a loop of a large and a small call; then rank 1 makes the large one smaller.
CallLog loop_that_breaks() {
  CallLog log = inits(2);
  for (int i = 0; i < 12; ++i) {
    for (int rank = 0; rank < 2; ++rank) log.call(rank, 1).call(rank, 1, "AllReduce", 8);
  }
  return log.call(0, 1).call(1, 1, "AllReduce", 256);
}

/// Two ranks in loops of 8 or 10 large calls and a small one. In the last one rank 1 makes a large
/// call smaller, where a small one would do as well; behind it both leave the loop.
CallLog loop_that_ends_behind() {
  CallLog log = inits(2);
  const auto both = [&](int times, int64_t count) {
    for (int i = 0; i < times; ++i) {
      for (int rank = 0; rank < 2; ++rank) log.call(rank, 1, "AllReduce", count);
    }
  };
  for (const int length : {8, 10, 8, 10}) {
    both(length, 512);
    both(1, 8);
  }
  both(8, 512);
  log.call(0, 1).call(1, 1, "AllReduce", 256);
  both(1, 512);
  both(1, 8);
  both(3, 512);
  both(1, 64);
  return log;
}

std::vector<GuiltyCase> cases() {
  return {
      {"three against one", kMismatched, counts({8, 8, 8, 4}).text(), "yes 3"},
      {"two against two blames nobody", kMismatched, counts({8, 8, 4, 4}).text(), "yes"},
      {"one against one blames nobody", kMismatched, counts({8, 4}).text(), "yes"},
      {"all alike", kMismatched, counts({8, 8, 8}).text(), "unknown"},
      {"a majority of those seen is none where it is no majority of all", kMismatched,
       CallLog()
           .init(0, 8, 1)
           .init(1, 8, 1)
           .init(2, 8, 1)
           .call(0, 1)
           .call(1, 1)
           .call(2, 1, "AllReduce", 8)
           .text(),
       "yes"},
      {"communicators alike decide between two", kMismatched, pairs(3).text(), "yes 1"},
      {"the past decides between two", kMismatched, loop_that_breaks().text(), "yes 1"},
      {"what they call behind the difference does not", kMismatched, loop_that_ends_behind().text(),
       "yes"},
      {"a lost line looks like a skipped call and is only told", kMismatched,
       inits(2).call(0, 1).call(0, 1, "AllGather").call(1, 1, "AllGather").text(), "unknown"},
      {"told as such", kDiffer,
       inits(2).call(0, 1).call(0, 1, "AllGather").call(1, 1, "AllGather").text(), "yes"},
      {"in a job that stopped it counts", kMismatched,
       inits(3)
           .call(0, 1)
           .call(2, 1)
           .call(0, 1, "AllGather")
           .call(1, 1, "AllGather")
           .call(2, 1, "AllGather")
           .timeout(0, 1)
           .text(),
       "yes 1"},
      {"user-made reductions are numbered differently on each rank", kMismatched,
       inits(2).call(0, 1, "AllReduce", 8, 0, 7, 5).call(1, 1, "AllReduce", 8, 0, 7, 91).text(),
       "unknown"},
  };
}

TEST(MismatchFacts, NameTheOddOneOnlyWhereSomethingDecides) {
  for (const GuiltyCase& one : cases()) {
    EXPECT_EQ(guilty_answer(one.fact, one.log), one.answer) << one.what << "\n" << one.log;
  }
}

TEST(MismatchFacts, SayInWhatTheCallsDiffer) {
  CallLog log = inits(3);
  log.call(0, 1, "Broadcast", 8, 0).call(1, 1, "Broadcast", 8, 0).call(2, 1, "Broadcast", 4, 2);
  EXPECT_EQ(
      fact_of(kMismatched, log.text()).what,
      "call 1 of communicator 0x1 (3 ranks): ranks 0,1 called Broadcast of 8 float32, root 0, "
      "rank 2 called Broadcast of 4 float32, root 2 (count, root differ)");
}

TEST(MismatchFacts, AreLessSureWhereTheCommunicatorIsInferred) {
  CallLog log;
  log.size(1, 3).call(0, 1).call(1, 1).call(2, 1, "AllReduce", 8);
  const FactValue value = fact_of(kMismatched, log.text());
  EXPECT_TRUE(value.inferred);
  EXPECT_EQ(value.processes.size(), 1u);
  EXPECT_FALSE(fact_of(kMismatched, counts({8, 8, 4}).text()).inferred);
}

TEST(MismatchFacts, QuoteTheCheckThatNoticedOne) {
  EXPECT_EQ(
      fact_of(kNoticed,
              "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running "
              "collective: CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE), but Rank "
              "1 is running collective: CollectiveFingerPrint(SequenceNumber=7OpType=BARRIER)."
              "Collectives differ in the following aspects: \t Op type: ALLREDUCEvs BARRIER\n")
          .what,
      "PyTorch's check compared ranks 0 and 1: Op type: ALLREDUCEvs BARRIER");
  EXPECT_EQ(fact_of(kNoticed,
                    "n1:7:9 [0] init.cc:251 NCCL WARN Mismatched collective detected, please check "
                    "your collective calls at and around rank 3. You can use NCCL_DEBUG=INFO and "
                    "NCCL_DEBUG_SUBSYS=COLL to see the collective logs\n")
                .what,
            "NCCL noticed it at and around rank 3");
}

TEST(MismatchFacts, TakeASuspicionForNoProof) {
  EXPECT_FALSE(
      fact_of(kNoticed,
              "n1:7:9 [0] init.cc:262 NCCL WARN Your program may be hanging, this may be "
              "caused by a collective mismatch around rank 3. Please check your collective "
              "calls at and around this rank.\n")
          .known());
}

}  // namespace

}  // namespace ncclog
