#include <gtest/gtest.h>

#include "support/guilty.h"

namespace ncclog {
namespace {

using testing::answer_of;
using testing::guilty_answer;

std::string rank(std::string_view host, int rank, std::string_view version, int nranks = 3) {
  const std::string head =
      std::string(host) + ":" + std::to_string(100 + rank) + ":9 [0] NCCL INFO ";
  return head + "NCCL version " + std::string(version) + "+cuda12.4\n" + head +
         "ncclCommInitRank comm 0x5a rank " + std::to_string(rank) + " nranks " +
         std::to_string(nranks) + " cudaDev 0 nvmlDev 0 busId 3d000 commId 0x77 - Init START\n";
}

TEST(JobFacts, CountHosts) {
  const std::string log = rank("a", 0, "2.21.5") + rank("a", 1, "2.21.5") + rank("b", 2, "2.21.5");
  EXPECT_EQ(answer_of("job.host_count", log), "2");
  EXPECT_EQ(answer_of("job.one_rank_per_host", log), "no");
  EXPECT_EQ(
      answer_of("job.one_rank_per_host", rank("a", 0, "2.21.5", 2) + rank("b", 1, "2.21.5", 2)),
      "yes");
  EXPECT_EQ(answer_of("job.one_rank_per_host", rank("a", 0, "2.21.5", 2)), "no");
}

TEST(JobFacts, AreUnknownWithoutLines) {
  for (const std::string_view fact : {"job.host_count", "job.mixed_nccl_versions"}) {
    EXPECT_EQ(answer_of(fact, "hello\n"), "unknown") << fact;
  }
}

TEST(JobFacts, TellNcclLinesFromQuotedOnes) {
  EXPECT_EQ(answer_of("job.has_nccl_lines", rank("a", 0, "2.21.5")), "yes");
  EXPECT_EQ(answer_of("job.has_nccl_lines",
                      "Last error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device "
                      "3d000\n"),
            "no");
}

TEST(JobFacts, FindMixedVersionsInsideOneCommunicatorOnly) {
  EXPECT_EQ(guilty_answer("job.mixed_nccl_versions",
                          rank("a", 0, "2.21.5") + rank("a", 1, "2.21.5") + rank("b", 2, "2.18.6")),
            "yes 2");
  EXPECT_EQ(
      guilty_answer("job.mixed_nccl_versions", rank("a", 0, "2.21.5") + rank("b", 1, "2.18.6")),
      "yes");
  EXPECT_EQ(
      guilty_answer("job.mixed_nccl_versions", rank("a", 0, "2.21.5") + rank("a", 1, "2.21.5")),
      "no");
  EXPECT_EQ(guilty_answer("job.mixed_nccl_versions",
                          "a:1:9 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
                          "b:2:9 [0] NCCL INFO NCCL version 2.18.6+cuda12.1\n"),
            "no");
  EXPECT_EQ(guilty_answer("job.mixed_nccl_versions",
                          "NCCL version 2.18.5+cuda12.2\n"
                          "b:2:9 [0] NCCL INFO NCCL version 2.20.5+cuda12.4\n"
                          "b:2:9 [0] misc/socket.cc:540 NCCL WARN ncclSocketInit: connecting to "
                          "address  with family 0 is neither AF_INET(2) nor AF_INET6(10)\n"),
            "yes");
}

}  // namespace
}  // namespace ncclog
