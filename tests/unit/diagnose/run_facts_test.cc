#include <gtest/gtest.h>

#include "diagnose/fact.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::job_from_files;

/// A rank of a run of two on host a: its settings and its communicator.
std::string rank(int pid, int number, const std::string& comm_id, const std::string& algo) {
  const std::string head = "a:" + std::to_string(pid) + ":9 [0] NCCL INFO ";
  const std::string n = std::to_string(number);
  const std::string init = head + "ncclCommInitRankConfig comm 0x5" + comm_id + n + " rank " + n +
                           " nranks 2 cudaDev " + n + " nvmlDev " + n + " busId " + n +
                           "000 commId 0x" + comm_id;
  return head + "NCCL_ALGO set by environment to " + algo + "\n" + init + " - Init START\n" + init +
         " - Init COMPLETE\n";
}

FactValue fact(const Job& job, const char* name) { return find_fact(name)->derive(job, {}); }

TEST(RunFacts, NamesTheFilesOfEachRun) {
  const Job job = job_from_files({{"old/0.log", rank(1, 0, "c", "Ring")},
                                  {"old/1.log", rank(2, 1, "c", "Ring")},
                                  {"new.log", rank(3, 0, "d", "Ring") + rank(4, 1, "d", "Ring")}});
  const FactValue value = fact(job, "job.several_runs");
  EXPECT_EQ(value.what, "run 1: 2 ranks in old/0.log and 1 more file; run 2: 2 ranks in new.log");
  ASSERT_EQ(value.evidence.size(), 2U);
  EXPECT_EQ(value.evidence[1].where, (SourceRef{2, 2}));
}

TEST(RunFacts, NamesTheLinesOfRunsInOneFile) {
  const Job job =
      job_from_files({{"out.log", rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring") +
                                      rank(3, 0, "d", "Ring") + rank(4, 1, "d", "Ring")}});
  EXPECT_EQ(fact(job, "job.several_runs").what,
            "run 1: 2 ranks in out.log lines 1-6; run 2: 2 ranks in out.log lines 7-12");
}

TEST(RunFacts, OneRunIsNotSeveral) {
  const Job job = job_from_files({{"out.log", rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring")}});
  EXPECT_EQ(fact_text(fact(job, "job.several_runs")), "no");
}

TEST(RunFacts, SettingsAreComparedWithinARunOnly) {
  const std::string old_run = rank(1, 0, "c", "Ring") + rank(2, 1, "c", "Ring");
  Job job = job_from_files({{"x", old_run + rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Tree")}});
  EXPECT_EQ(fact_text(fact(job, "job.env_differs")), "no");
  job = job_from_files({{"x", old_run + rank(3, 0, "d", "Tree") + rank(4, 1, "d", "Ring")}});
  EXPECT_EQ(fact(job, "job.env_differs").what, "NCCL_ALGO is Tree on rank 0 and Ring on rank 1");
}

}  // namespace
}  // namespace ncclog
