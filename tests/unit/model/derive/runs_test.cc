// When the logs are of several runs, and when it only looks so.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/derive/split_runs.h"
#include "support/job_from_files.h"
#include "support/run_of_two.h"

namespace ncclog {
namespace {

using testing::job_from_files;
using testing::rank_of_two;
using testing::run_of_two;

struct Member {
  const char* host;
  int pid;
  int rank;
  int gpu;
  int comm_id;
  int nranks = 2;
};

std::string start(const Member& member) {
  return fmt::format(
      "{}:{}:{} [{}] NCCL INFO ncclCommInitRankConfig comm 0x{:x}{} rank {} nranks {} cudaDev {} "
      "nvmlDev {} busId {}000 commId 0x{:x} - Init START\n",
      member.host, member.pid, member.pid, member.gpu, member.comm_id, member.rank, member.rank,
      member.nranks, member.gpu, member.gpu, member.gpu + 1, member.comm_id);
}

std::string starts(const std::vector<Member>& members) {
  std::string text;
  for (const Member& member : members) text += start(member);
  return text;
}

/// "pid=run" of each process; "-" where it has none.
std::string runs_of(const Job& job) {
  const std::vector<Run> runs = find_runs(job);
  EXPECT_EQ(job.runs, std::max<size_t>(1, runs.size()));
  std::string text;
  for (size_t p = 0; p < job.processes.size(); ++p) {
    const auto own = std::ranges::find_if(runs, [&](const Run& run) {
      return std::ranges::binary_search(run.processes, static_cast<int>(p));
    });
    text += fmt::format("{}={} ", job.processes[p].pid,
                        own == runs.end() ? "-" : std::to_string(own - runs.begin()));
  }
  return text;
}

struct RunRow {
  const char* name;
  std::vector<Member> members;
  const char* runs;
};

const RunRow kRunRows[] = {
    {"one communicator", {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xc}}, "1=- 2=- "},
    {"other processes on the same GPUs",
     {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xc}, {"a", 3, 0, 0, 0xd}, {"a", 4, 1, 1, 0xd}},
     "1=0 3=1 2=0 4=1 "},
    {"replicas on GPUs of their own",
     {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xc}, {"a", 3, 0, 2, 0xd}, {"a", 4, 1, 3, 0xd}},
     "1=- 3=- 2=- 4=- "},
    {"replicas on hosts of their own",
     {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xc}, {"b", 3, 0, 0, 0xd}, {"b", 4, 1, 1, 0xd}},
     "1=- 3=- 2=- 4=- "},
    {"groups that others join",
     {{"a", 1, 0, 0, 0xc},
      {"a", 2, 1, 1, 0xc},
      {"a", 3, 0, 0, 0xd},
      {"a", 4, 1, 1, 0xd},
      {"a", 1, 0, 0, 0xe},
      {"a", 3, 1, 0, 0xe}},
     "1=- 3=- 2=- 4=- "},
    {"another number of ranks",
     {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xc}, {"a", 3, 0, 0, 0xd, 4}, {"a", 4, 1, 1, 0xd, 4}},
     "1=- 3=- 2=- 4=- "},
    {"ranks of one id that was not shared: nobody has the other's place",
     {{"a", 1, 0, 0, 0xc}, {"a", 2, 1, 1, 0xd}},
     "1=- 2=- "},
    {"programs of one rank each", {{"a", 1, 0, 0, 0xc, 1}, {"a", 2, 0, 0, 0xd, 1}}, "1=- 2=- "},
};

TEST(BuildRuns, KeepsApartOnlyWhatIsCertain) {
  for (const RunRow& row : kRunRows) {
    const Job job = job_from_files({{"log.txt", starts(row.members)}});
    EXPECT_EQ(runs_of(job), row.runs) << row.name;
  }
}

TEST(BuildRuns, WhatMayBelongToEitherRunIsKeptApartToo) {
  const Job job = job_from_files({{"log.txt", starts({{"a", 1, 0, 0, 0xc},
                                                      {"a", 2, 1, 1, 0xc},
                                                      {"a", 3, 0, 0, 0xd},
                                                      {"a", 4, 1, 1, 0xd},
                                                      {"a", 5, 0, 2, 0xe},
                                                      {"a", 6, 1, 3, 0xe}})}});
  const auto runs = find_runs(job);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_TRUE(runs[0].certain);
  EXPECT_TRUE(runs[1].certain);
  EXPECT_FALSE(runs[2].certain);
}

TEST(BuildRuns, TorchrunsAttemptsAreRunsWhateverTheirSizes) {
  const Job job = job_from_files({{"x/attempt_0/0/stdout.log", start({"a", 1, 0, 0, 0xc})},
                                  {"x/attempt_0/1/stdout.log", start({"b", 2, 1, 1, 0xc})},
                                  {"x/attempt_1/0/stdout.log", start({"a", 3, 0, 0, 0xd, 1})}});
  const auto runs = find_runs(job);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].attempt, 0);
  EXPECT_EQ(runs[1].attempt, 1);
  EXPECT_EQ(runs[1].nranks, 1);
  EXPECT_EQ(runs[1].processes.size(), 1U);
}

TEST(BuildRuns, ReplicasThatAreStartedAgainTogetherAreTwoRuns) {
  const Job job = job_from_files({{"log.txt", starts({{"a", 1, 0, 0, 0xc},
                                                      {"a", 2, 1, 1, 0xc},
                                                      {"a", 3, 0, 2, 0xd},
                                                      {"a", 4, 1, 3, 0xd},
                                                      {"a", 5, 0, 0, 0xe},
                                                      {"a", 6, 1, 1, 0xe},
                                                      {"a", 7, 0, 2, 0xf},
                                                      {"a", 8, 1, 3, 0xf}})}});
  EXPECT_EQ(job.runs, 2U);
  EXPECT_EQ(runs_of(job), "1=0 3=0 5=1 7=1 2=0 4=0 6=1 8=1 ");
}

/// A call of one of two ranks, in a log without initialisation lines.
std::string late_call(int pid, int device) {
  return fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count 8 "
      "datatype 7 op 0 root 0 comm 0x5{0:x} [nranks=2] stream 0x55\n",
      pid, device);
}

TEST(BuildRuns, WithoutInitialisationProcessesThatTakeTurnsOnEachGpuAreRuns) {
  const Job job = job_from_files(
      {{"log.txt", late_call(1, 0) + late_call(2, 1) + late_call(5, 0) + late_call(6, 1)}});
  EXPECT_EQ(runs_of(job), "1=0 2=0 5=1 6=1 ");
}

TEST(BuildRuns, FilesOfProcessesPutTogetherAreOneRun) {
  EXPECT_EQ(job_from_files({{"log.txt", late_call(1, 0) + late_call(2, 1)}}).runs, 1U);
  const std::string stop =
      "W0203 04:05:06.000000 9 torch/x.py:7] Received 15 death signal, shutting down workers\n";
  EXPECT_EQ(job_from_files({{"log.txt", late_call(1, 0) + late_call(2, 1) + stop}}).runs, 1U);
  EXPECT_EQ(job_from_files({{"log.txt", late_call(1, 0) + stop + late_call(2, 1)}}).runs, 2U);
}

TEST(BuildRuns, JobsBesideEachOtherHaveOutputsOfTheirOwn) {
  const std::string first = start({"a", 1, 0, 0, 0xc}) + start({"a", 2, 1, 1, 0xc});
  const std::string second = start({"a", 3, 0, 2, 0xd}) + start({"a", 4, 1, 3, 0xd});
  const std::string steps = "iteration: 1 | loss 3\niteration: 2 | loss 2\n";
  const auto runs = [&](const std::string& one, const std::string& other) {
    return job_from_files({{"1.log", first}, {"2.log", second}, {"1.out", one}, {"2.out", other}})
        .runs;
  };
  EXPECT_EQ(runs(steps, steps), 2U);
  EXPECT_EQ(runs(steps, ""), 1U) << "replicas of one job print once";
  EXPECT_EQ(runs(steps, "[rank3]: hello\n" + steps), 1U) << "ranks are counted on";
}

TEST(BuildRuns, APidWithOtherCommunicatorsBehindANewStartHadSeveralLives) {
  const std::string begin = "a:1:1 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.7<0>\n";
  const std::string first = start({"a", 1, 0, 0, 0xc});
  const std::string second = start({"a", 1, 0, 0, 0xd});
  EXPECT_TRUE(job_from_files({{"x", begin + first + begin + second}}).processes[0].restarted);
  EXPECT_TRUE(job_from_files({{"x", begin + first}, {"y", begin + second}}).processes[0].restarted);
  EXPECT_FALSE(job_from_files({{"x", begin + first + second}}).processes[0].restarted);
  EXPECT_FALSE(job_from_files({{"x", begin + first + second}, {"y", begin + first + second}})
                   .processes[0]
                   .restarted)
      << "a copy of the log";
}

std::string begun(int pid, int number, int comm_id) {
  const std::string text = rank_of_two(pid, number, comm_id);
  return text.substr(0, text.find('\n') + 1);
}

TEST(Latecomers, WhoBeginsWithAnIdThatWasUsedUpCameLater) {
  const Job job =
      job_from_files({{"x", run_of_two(10, 0xc) + begun(21, 1, 0xc) + begun(20, 0, 0xd)}});
  ASSERT_EQ(job.communicators[0].id, "0xc");
  const std::vector<size_t> late = latecomers(job, job.communicators[0]);
  ASSERT_EQ(late.size(), 1U);
  const CommRank& rank = job.communicators[0].ranks[late[0]];
  EXPECT_EQ(job.processes[static_cast<size_t>(rank.process)].pid, 21);
  EXPECT_EQ(job.runs, 2U);
}

TEST(Latecomers, TwoProcessesThatWereGivenOneRankAreOfOneRun) {
  const Job job =
      job_from_files({{"x", begun(10, 0, 0xc) + begun(11, 1, 0xc) + begun(12, 1, 0xc)}});
  EXPECT_TRUE(latecomers(job, job.communicators[0]).empty());
  EXPECT_EQ(job.runs, 1U);
}

}  // namespace

}  // namespace ncclog
