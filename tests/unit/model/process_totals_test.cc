#include "model/process_totals.h"

#include <gtest/gtest.h>

#include <string>

#include "model/job_from_text.h"

namespace ncclog {
namespace {

TEST(ProcessTotals, AddUpAllocationsByWhatTheyAre) {
  const Job job = job_from_text(
      "h:1:1 [0] NCCL INFO init.cc:512 Cuda Alloc "
      "Size 100 pointer 0x7f3f7a200000\n"
      "h:1:1 [0] NCCL INFO init.cc:512 Cuda Alloc "
      "Size 100 pointer 0x7f3f7a200000\n"
      "h:1:1 [0] NCCL INFO init.cc:90 Cuda Host "
      "Alloc Size 7 pointer 0x7f3f7a200000\n");
  const std::map<std::string, AllocTotal> wanted = {{"Cuda Alloc", {2, 200}},
                                                    {"Cuda Host Alloc", {1, 7}}};
  EXPECT_EQ(job.logs.at(0).allocations.by_what, wanted);
}

TEST(ProcessTotals, AddUpHowOperationsRun) {
  const Job job = job_from_text(
      "h:1:1 [0] NCCL INFO AllReduce: 64 Bytes -> Algo RING proto LL "
      "channel{Lo..Hi}={0..1}\n"
      "h:1:1 [0] NCCL INFO AllReduce: 8 Bytes -> Algo RING proto LL "
      "channel{Lo..Hi}={0..0}\n"
      "h:1:1 [0] NCCL INFO AllGather [Copy Engine]: 16 Bytes -> cudaMemcpy\n");
  const std::map<TuningKey, TuningUse> wanted = {{{"AllGather", "cudaMemcpy", ""}, {1, 16, 16}},
                                                 {{"AllReduce", "RING", "LL"}, {2, 8, 64}}};
  EXPECT_EQ(job.logs.at(0).tuning.uses, wanted);
}

TEST(ProcessTotals, KeepTheSmallestKeysInAnyGrouping) {
  const auto uses_of = [](size_t from, size_t to) {
    TuningUses uses;
    for (size_t i = from; i < to; ++i) {
      const std::string name = std::to_string(i * 7919 % 1000 + 1000);
      uses.add(TuningChoice{name, 1, "RING", "LL", ""});
    }
    return uses;
  };
  const TuningUses whole = uses_of(0, 900);
  EXPECT_EQ(whole.uses.size(), TuningUses::kLimit);
  EXPECT_EQ(whole.other, 900 - TuningUses::kLimit);
  for (const size_t cut : {1, 300, 700}) {
    TuningUses joined = uses_of(0, cut);
    joined.merge(uses_of(cut, 900));
    EXPECT_EQ(joined, whole);
  }
}

}  // namespace
}  // namespace ncclog
