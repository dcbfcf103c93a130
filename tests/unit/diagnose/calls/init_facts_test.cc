#include <fmt/format.h>
#include <gtest/gtest.h>

#include "diagnose/facts/fact.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::job_from_files;

constexpr std::string_view kMissing = "job.rank_missing_at_init";
constexpr std::string_view kUnseen = "job.rank_unseen_at_init";
constexpr std::string_view kStalled = "job.init_stalled";

const std::string kCancelled =
    "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 DUE TO TIME LIMIT ***\n";

/// Two ranks a host: n1:100, n1:101, n2:102, …
std::string start(int rank, int nranks) {
  return fmt::format(
      "n{0}:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm {3:#x} rank {4} nranks {5} cudaDev {2} "
      "nvmlDev {2} busId {6}000 commId 0x51 - Init START\n",
      rank / 2 + 1, 100 + rank, rank % 2, 0x7510 + rank, rank, nranks, rank % 2 + 1);
}

/// A file for each rank's NCCL lines, and one for what the framework prints.
TEST(InitFacts, ARankThatSpeaksElsewhereMayHaveAFileThatIsNotThere) {
  const std::string framework =
      "[rank3]:[W105 09:14:02.007718211 socket.cpp:207] [c10d] The hostname of the client socket "
      "cannot be retrieved. err=-3\n" +
      kCancelled;
  const Job job = job_from_files({{"nccl.n1.100.log", start(0, 4)},
                                  {"nccl.n1.101.log", start(1, 4)},
                                  {"nccl.n2.102.log", start(2, 4)},
                                  {"stdout.log", framework}});
  EXPECT_EQ(fact_text(find_fact(kMissing)->derive(job, job_instance(job))), "unknown");
  EXPECT_EQ(fact_text(find_fact(kUnseen)->derive(job, job_instance(job))), "yes");
}

/// The first run stopped, the second one starts.
TEST(InitFacts, RunsAreJudgedOneByOne) {
  const auto run = [](int id, int pid, std::string_view end) {
    std::string text;
    for (int rank = 0; rank < 2; ++rank) {
      text += fmt::format(
          "n1:{0}:{0} [{1}] NCCL INFO ncclCommInitRank comm {2:#x} rank {1} nranks 2 cudaDev {1} "
          "nvmlDev {1} busId {1}000 commId {2:#x} - Init START\n",
          pid + rank, rank, id + rank);
    }
    return text + fmt::format("n1:{0}:{0} [0] NCCL INFO {1}\n", pid, end);
  };
  const Job job =
      job_from_files({{"a/nccl.log", run(0x51, 100, "Bootstrap timings total 0.08 (create 0.01)")},
                      {"b/nccl.log", run(0x61, 200, "Bootstrap timings total 0.08 (create 0.01)")},
                      {"slurm.log", kCancelled}});
  EXPECT_EQ(fact_text(find_fact(kStalled)->derive(job, job_instance(job))), "unknown");
}

}  // namespace

}  // namespace ncclog
