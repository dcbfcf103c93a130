// Which lines belong to which run, and what the job of one run holds.

#include "model/build/run_parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/job_from_files.h"

namespace ncclog {
namespace {

using testing::job_from_files;

/// A rank of two on host a, whose communicator is complete.
std::string rank(int pid, int number, int comm_id) {
  const std::string init = fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO ncclCommInitRankConfig comm 0x5{0:x} rank {1} nranks 2 cudaDev "
      "{1} nvmlDev {1} busId {1}000 commId 0x{2:x}",
      pid, number, comm_id);
  return init + " - Init START\n" + init + " - Init COMPLETE\n";
}

std::string call(int pid, int number, int count = 8) {
  return fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 count {2} "
      "datatype 7 op 0 root 0 comm 0x5{0:x} [nranks=2] stream 0x55\n",
      pid, number, count);
}

std::string destroy(int pid, int number) {
  return fmt::format(
      "a:{0}:{0} [{1}] NCCL INFO comm 0x5{0:x} rank {1} nranks 2 cudaDev {1} busId {1}000 - "
      "Destroy COMPLETE\n",
      pid, number);
}

std::string run(int first_pid, int comm_id) {
  return rank(first_pid, 0, comm_id) + rank(first_pid + 1, 1, comm_id);
}

std::string ended(int first_pid) { return destroy(first_pid, 0) + destroy(first_pid + 1, 1); }

constexpr char kTimeout[] =
    "[rank0]:[E203 04:15:06.160 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, "
    "Timeout(ms)=600000) ran for 600011 milliseconds before timing out.\n";
constexpr char kFinished[] = "Training completed\n";

/// The run of each line of an input.
std::string owners(const Job& job, const RunParts& parts, uint64_t unit, uint64_t lines) {
  std::string text;
  for (uint64_t line = 1; line <= lines; ++line) {
    const int owner = parts.owner(job, {unit, line});
    text += owner < 0 ? "-" : std::to_string(owner);
  }
  return text;
}

TEST(RunParts, OneRunHasNoParts) {
  EXPECT_TRUE(run_parts(job_from_files({{"x", run(10, 0xc)}})).runs.empty());
}

TEST(RunParts, WhatStandsBehindARunIsAboutItsEnd) {
  const Job job = job_from_files({{"x", run(10, 0xc) + kTimeout + run(20, 0xd) + kFinished}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(owners(job, parts, 0, 10), "0000011111");
  EXPECT_EQ(place_of_run(job, parts, 1), "x lines 6-9");
}

TEST(RunParts, LinesOfRunsThatTakeTurnsBelongToNobody) {
  const Job job = job_from_files({{"x", rank(10, 0, 0xc) + rank(20, 0, 0xd) + rank(11, 1, 0xc) +
                                            rank(21, 1, 0xd) + kTimeout}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(parts.owner(job, {0, 9}), -1);
  EXPECT_EQ(job_of_run(job, parts, -1).losses.lines, 0U);
  EXPECT_EQ(job_of_run(job, parts, -1).processes.size(), 1U) << "that of rank 0's watchdog";
}

struct OutputRow {
  const char* name;
  std::string first;  ///< What the processes of each run print.
  std::string second;
  std::string output;  ///< What stands in a file that names none of them.
  const char* owners;  ///< Of its lines.
};

const OutputRow kOutputs[] = {
    {"work behind a failure is of the next run", run(10, 0xc), run(20, 0xd),
     std::string(kTimeout) + kFinished, "01"},
    {"a failure alone is of the run that did not end", run(10, 0xc) + ended(10), run(20, 0xd),
     kTimeout, "1"},
    {"an end alone is of the run that took its communicators down", run(10, 0xc),
     run(20, 0xd) + ended(20), kFinished, "1"},
    {"an end alone may be of either", run(10, 0xc), run(20, 0xd), kFinished, "-"},
    {"no job finished with a rank behind", run(10, 0xc) + call(10, 0), run(20, 0xd), kFinished,
     "1"},
    {"a launcher names the pid", run(10, 0xc), run(20, 0xd),
     "W0203 04:05:06.000000 9 torch/x.py:1] Sending process 20 closing signal SIGTERM\n", "1"},
    {"steps that begin again, and their end", run(10, 0xc), run(20, 0xd),
     "iteration 1/9 | loss: 3\niteration 2/9 | loss: 2\niteration 1/9 | loss: 4\n"
     "iteration 2/9 | loss: 1\nTraining completed\n",
     "00111"},
};

TEST(RunParts, AFileThatNamesNoProcessIsDividedByWhatItSays) {
  for (const OutputRow& row : kOutputs) {
    const Job job =
        job_from_files({{"1.log", row.first}, {"2.log", row.second}, {"3.out", row.output}});
    const RunParts parts = run_parts(job);
    ASSERT_EQ(parts.runs.size(), 2U) << row.name;
    EXPECT_EQ(owners(job, parts, 2, std::string_view(row.owners).size()), row.owners) << row.name;
  }
}

TEST(RunParts, AFolderIsOfTheRunThatAloneWritesIntoIt) {
  const Job job = job_from_files({{"new/nccl.log", run(20, 0xd)},
                                  {"new/out", kTimeout},
                                  {"old/nccl.log", run(10, 0xc)},
                                  {"old/out", kFinished}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(job.processes[static_cast<size_t>(parts.runs[0].processes[0])].pid, 10)
      << "pids tell which began first";
  EXPECT_EQ(parts.owner(job, {1, 1}), 1);
  EXPECT_EQ(parts.owner(job, {3, 1}), 0);
}

TEST(RunParts, TheJobOfARunHoldsNothingOfTheOther) {
  const Job job = job_from_files({{"x", run(10, 0xc) + kTimeout + run(20, 0xd) + kFinished}});
  const RunParts parts = run_parts(job);
  const Job first = job_of_run(job, parts, 0);
  ASSERT_EQ(first.processes.size(), 2U);
  EXPECT_EQ(first.processes[0].pid, 10);
  EXPECT_EQ(first.processes[0].logs.size(), 2U) << "[rank0] is rank 0 of this run";
  ASSERT_EQ(first.communicators.size(), 1U);
  EXPECT_EQ(first.communicators[0].id, "0xc");
  EXPECT_TRUE(first.runs.empty());
  EXPECT_EQ(first.losses.lines, 5U);
  EXPECT_EQ(job_of_run(job, parts, 1).communicators[0].id, "0xd");
  EXPECT_TRUE(job_of_run(job, parts, -1).logs.empty());
}

TEST(RunParts, ARunKeepsTheFirstDifferenceThatWasFoundByReadingAgain) {
  std::string log = run(10, 0xc);
  for (int i = 0; i < 3000; ++i) {
    // Of a period that repeats nowhere, so that single calls are not known any more.
    log += call(10, 0, 8 + i * i) + call(11, 1, i == 1234 ? 7 : 8 + i * i);
  }
  Job job = job_from_files({{"x", log + kTimeout + run(20, 0xd)}});
  ASSERT_EQ(job.communicators.size(), 2U);
  std::optional<FirstDifference>& found = job.communicators[0].difference;
  ASSERT_TRUE(found && !found->is_exact());
  found->index = found->at_most = 1234;
  const Job first = job_of_run(job, run_parts(job), 0);
  ASSERT_TRUE(first.communicators[0].difference.has_value());
  EXPECT_EQ(first.communicators[0].difference->index, 1234U);
  EXPECT_TRUE(first.communicators[0].difference->is_exact());
}

std::string start(int pid, int number, int comm_id) {
  const std::string text = rank(pid, number, comm_id);
  return text.substr(0, text.find('\n') + 1);
}

TEST(RunParts, WhoBeginsWithAnIdThatWasUsedUpCameLater) {
  const Job job = job_from_files({{"x", run(10, 0xc) + start(21, 1, 0xc) + start(20, 0, 0xd)}});
  ASSERT_EQ(job.communicators[0].id, "0xc");
  const std::vector<size_t> late = latecomers(job, job.communicators[0]);
  ASSERT_EQ(late.size(), 1U);
  const CommRank& rank = job.communicators[0].ranks[late[0]];
  EXPECT_EQ(job.processes[static_cast<size_t>(rank.process)].pid, 21);
  EXPECT_EQ(run_parts(job).runs.size(), 2U);
}

TEST(RunParts, TwoProcessesThatWereGivenOneRankAreOfOneRun) {
  const Job job =
      job_from_files({{"x", start(10, 0, 0xc) + start(11, 1, 0xc) + start(12, 1, 0xc)}});
  EXPECT_TRUE(latecomers(job, job.communicators[0]).empty());
  EXPECT_TRUE(run_parts(job).runs.empty());
}

}  // namespace

}  // namespace ncclog
