#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/facts/fact.h"
#include "diagnose/settings/nccl_variables.h"
#include "model/build/build_job.h"

namespace ncclog {
namespace {

std::string init(int rank, std::string_view phase) {
  return fmt::format(
      "a:{0}:{0} [0] NCCL INFO ncclCommInitRank comm 0x5a rank {1} nranks 3 cudaDev 0 nvmlDev 0 "
      "busId 3d000 commId 0x77 - Init {2}\n",
      100 + rank, rank, phase);
}

TEST(EnvironmentFacts, TakeASettingForMissingOnlyWhereNoLineIsTorn) {
  Job job = job_from_text(init(0, "START") + init(0, "COMPLETE") + init(1, "START") +
                          init(1, "COMPLETE") + init(2, "START") +
                          "a:102:102 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n" +
                          init(2, "COMPLETE"));
  const auto differs = [&] {
    return is_yes(find_fact("job.env_differs")->derive(Job(job), {}));  // It will change.
  };
  EXPECT_TRUE(differs());
  job.logs[2].torn = true;
  EXPECT_FALSE(differs());
}

TEST(SettingFacts, KnowVariablesOfEveryRelease) {
  EXPECT_NE(find_nccl_variable("NCCL_DEBUG"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_WORK_FIFO_DEPTH"), nullptr);
  EXPECT_EQ(find_nccl_variable("NCCL_TIMEOUT"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_RUN_DIAGNOSTICS"), nullptr);
  EXPECT_NE(find_nccl_variable("NCCL_PROGRESS_COUNTERS"), nullptr);
  EXPECT_TRUE(is_rccl_variable("RCCL_MSCCL_ENABLE"));
  EXPECT_TRUE(is_rccl_variable("NCCL_RINGS_REMAP"));
  EXPECT_FALSE(is_rccl_variable("NCCL_DEBUG"));
}

}  // namespace

}  // namespace ncclog
