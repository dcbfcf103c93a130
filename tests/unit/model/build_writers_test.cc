// Whose the lines are that name nobody.

#include <gtest/gtest.h>

#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::job_from_files;

/// "host:pid" of every process, in the job's order.
std::string processes_of(const Job& job) {
  std::string text;
  for (const Process& process : job.processes) {
    text += process.host + ':' + std::to_string(process.pid) + ' ';
  }
  return text;
}

TEST(BuildWriters, ABannerBelongsToTheProcessThatWroteTheFile) {
  const Job job = job_from_files({{"nccl.node-1.77.log",
                                   "NCCL version 2.28.9+cuda13.0\n"
                                   "node-1:77:77 [0] NCCL INFO Using network Socket\n"}});
  EXPECT_EQ(processes_of(job), "node-1:77 ");
  EXPECT_EQ(job.processes[0].logs.size(), 2U);
  EXPECT_EQ(job.processes[0].first, (SourceRef{0, 1}));
}

TEST(BuildWriters, AnyOtherNameProvesNothing) {
  for (const char* path : {"out.log", "node-1.log", "nccl.node-1.78.log"}) {
    const Job job = job_from_files({{path,
                                     "NCCL version 2.28.9+cuda13.0\n"
                                     "node-1:77:77 [0] NCCL INFO Using network Socket\n"}});
    EXPECT_EQ(processes_of(job), "node-1:77 :-1 ") << path;
  }
}

TEST(BuildWriters, AFileWithTheLinesOfSeveralProcessesBelongsToNone) {
  const Job job = job_from_files({{"nccl.node-1.77.log",
                                   "NCCL version 2.28.9+cuda13.0\n"
                                   "node-1:77:77 [0] NCCL INFO Using network Socket\n"
                                   "node-1:78:78 [0] NCCL INFO Using network Socket\n"}});
  EXPECT_EQ(processes_of(job), "node-1:77 node-1:78 :-1 ");
  EXPECT_EQ(job.inputs[0].pid, -1);
}

TEST(BuildWriters, LinesWithoutHostAreThoseOfTheNameWhereOtherFilesShowThePattern) {
  const std::string named = "node-1:77:77 [0] NCCL INFO Using network Socket\n";
  const std::string quoted = "NCCL INFO Using network Socket\n";
  Job job = job_from_files({{"nccl.node-1.77.log", named}, {"nccl.node-2.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 node-2:91 ");
  EXPECT_EQ(job.nhosts, 2);
  job = job_from_files({{"nccl.node-1.77.log", named}, {"nccl.login.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ") << "no host is called like that";
  job = job_from_files({{"other.node-1.77.log", named}, {"nccl.node-2.91.log", quoted}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ");
  EXPECT_EQ(job.nhosts, 1);
}

TEST(BuildWriters, AnEmptyFileStillNamesItsHost) {
  const Job job =
      job_from_files({{"nccl.node-1.77.log", "node-1:77:77 [0] NCCL INFO Using network Socket\n"},
                      {"nccl.node-2.91.log", ""}});
  EXPECT_EQ(job.nhosts, 2);
  EXPECT_EQ(job.processes.size(), 1U);
}

TEST(BuildWriters, APidIsEnoughWhereOneProcessHasIt) {
  const std::string line = "node-1:77:77 [0] NCCL INFO Using network Socket\n";
  const std::string sibling = "node-1:78:78 [0] NCCL INFO Using network Socket\n";
  const Job job = job_from_files({{"nccl.77", line},
                                  {"stdout.log", sibling},
                                  {"nccl.78", "NCCL version 2.28.9+cuda13.0\n"},
                                  {"nccl.79", "NCCL version 2.28.9+cuda13.0\n"}});
  EXPECT_EQ(job.inputs[2].host, "node-1");
  EXPECT_EQ(job.inputs[3].pid, -1);
  EXPECT_EQ(processes_of(job), "node-1:77 node-1:78 :-1 ");
}

TEST(BuildWriters, TorchrunsTwoFilesOfAWorkerAreOfOneProcess) {
  const std::string nccl = "node-1:77:77 [3] NCCL INFO Using network Socket\n";
  const std::string error = "torch.cuda.OutOfMemoryError: CUDA out of memory.\n";
  Job job = job_from_files({{"run/attempt_0/3/stdout.log", nccl},
                            {"run/attempt_0/3/stderr.log", error},
                            {"run/attempt_0/4/stderr.log", error}});
  EXPECT_EQ(processes_of(job), "node-1:77 :-1 ");
  EXPECT_EQ(job.inputs[1].pid, 77);
  EXPECT_EQ(job.inputs[1].attempt, 0);
  EXPECT_EQ(job.inputs[2].pid, -1);
  job = job_from_files({{"run/attempt_0/3/stdout.log", nccl + "node-1:78:78 [3] NCCL INFO Hi\n"},
                        {"run/attempt_0/3/stderr.log", error}});
  EXPECT_EQ(job.inputs[1].pid, -1) << "several processes speak there";
}

}  // namespace
}  // namespace ncclog
