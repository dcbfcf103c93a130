#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/fact_of.h"

namespace ncclog {
namespace {

using testing::fact_of;

std::string init(std::string_view prefix, int rank, int nranks) {
  return fmt::format(
      "{0}node-a:{1}:{1} [{2}] NCCL INFO ncclCommInitRank comm 0x5a{2} rank {2} nranks {3} cudaDev "
      "{2} nvmlDev {2} busId {4}b000 commId 0x77 - Init COMPLETE\n",
      prefix, 800 + rank, rank, nranks, rank + 1);
}

std::string note(std::string_view prefix, int rank) {
  return fmt::format(
      "{}[rank{}]:[W105 09:14:02.007718211 ProcessGroupNCCL.cpp:5138] Guessing device ID based on "
      "global rank. This can cause a hang if rank to GPU mapping is heterogeneous.\n",
      prefix, rank);
}

struct Row {
  std::string_view what;
  std::string log;
  std::string_view conflicts;
};

const Row kRows[] = {
    {"by the launcher's number",
     init("[default0]:", 0, 2) + init("[default1]:", 1, 2) + note("[default1]:", 0),
     "node-a, pid 801: rank 0 to the framework, rank 1 to NCCL"},
    {"by pid", init("", 0, 2) + init("", 1, 2) + note("(Worker pid=801) ", 0),
     "node-a, pid 801: rank 0 to the framework, rank 1 to NCCL"},
    {"both agree", init("[default0]:", 0, 2) + init("[default1]:", 1, 2) + note("[default1]:", 1),
     ""},
    {"nothing joins them", init("", 0, 2) + init("", 1, 2) + note("", 0), ""},
    {"the communicator is a part of the job",
     init("[default0]:", 0, 2) + init("[default1]:", 1, 2) + note("[default1]:", 5), ""},
    {"no rank of NCCL",
     "node-a:801:801 [1] NCCL INFO Using network Socket\n" + note("(Worker pid=801) ", 0), ""},
};

TEST(RankFacts, SeeTwoRanksOfOneProcess) {
  for (const Row& row : kRows) {
    EXPECT_EQ(fact_of("job.rank_conflicts", row.log).what, row.conflicts) << row.what;
  }
}

TEST(RankFacts, NcclsRankWins) {
  const Job job =
      job_from_text(init("[default0]:", 0, 2) + init("[default1]:", 1, 2) + note("[default1]:", 0));
  ASSERT_EQ(job.processes.size(), 2u);
  EXPECT_EQ(job.processes[1].pid, 801);
  EXPECT_EQ(job.processes[1].rank, 1);
  EXPECT_EQ(job.processes[1].logs.size(), 2u);
  EXPECT_EQ(process_of_rank(job, 0), 0);
}

}  // namespace
}  // namespace ncclog
