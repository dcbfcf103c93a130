// Which lines belong to which run.

#include "model/derive/run_parts.h"

#include <gtest/gtest.h>

#include "support/job_from_files.h"
#include "support/run_of_two.h"

namespace ncclog {
namespace {

using testing::call_of_two;
using testing::end_of_two;
using testing::job_from_files;
using testing::kFinishedWork;
using testing::kTimeoutOfTwo;
using testing::rank_of_two;
using testing::run_of_two;

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
  EXPECT_TRUE(run_parts(job_from_files({{"x", run_of_two(10, 0xc)}})).runs.empty());
}

TEST(RunParts, WhatStandsBehindARunIsAboutItsEnd) {
  const Job job = job_from_files(
      {{"x", run_of_two(10, 0xc) + kTimeoutOfTwo + run_of_two(20, 0xd) + kFinishedWork}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(owners(job, parts, 0, 10), "0000011111");
  EXPECT_EQ(place_of_run(job, parts, 1), "x lines 6-9");
}

TEST(RunParts, LinesOfRunsThatTakeTurnsBelongToNobody) {
  const Job job = job_from_files(
      {{"x", rank_of_two(10, 0, 0xc) + rank_of_two(20, 0, 0xd) + rank_of_two(11, 1, 0xc) +
                 rank_of_two(21, 1, 0xd) + kTimeoutOfTwo}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(parts.owner(job, {0, 9}), -1);
}

struct OutputRow {
  const char* name;
  std::string first;  ///< What the processes of each run print.
  std::string second;
  std::string output;  ///< What stands in a file that names none of them.
  const char* owners;  ///< Of its lines.
};

const OutputRow kOutputs[] = {
    {"work behind a failure is of the next run", run_of_two(10, 0xc), run_of_two(20, 0xd),
     std::string(kTimeoutOfTwo) + kFinishedWork, "01"},
    {"a failure alone is of the run that did not end", run_of_two(10, 0xc) + end_of_two(10),
     run_of_two(20, 0xd), kTimeoutOfTwo, "1"},
    {"an end alone is of the run that took its communicators down", run_of_two(10, 0xc),
     run_of_two(20, 0xd) + end_of_two(20), kFinishedWork, "1"},
    {"an end alone may be of either", run_of_two(10, 0xc), run_of_two(20, 0xd), kFinishedWork, "-"},
    {"no job finished with a rank behind", run_of_two(10, 0xc) + call_of_two(10, 0),
     run_of_two(20, 0xd), kFinishedWork, "1"},
    {"a launcher names the pid", run_of_two(10, 0xc), run_of_two(20, 0xd),
     "W0203 04:05:06.000000 9 torch/x.py:1] Sending process 20 closing signal SIGTERM\n", "1"},
    {"steps that begin again, and their end", run_of_two(10, 0xc), run_of_two(20, 0xd),
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
  const Job job = job_from_files({{"new/nccl.log", run_of_two(20, 0xd)},
                                  {"new/out", kTimeoutOfTwo},
                                  {"old/nccl.log", run_of_two(10, 0xc)},
                                  {"old/out", kFinishedWork}});
  const RunParts parts = run_parts(job);
  ASSERT_EQ(parts.runs.size(), 2U);
  EXPECT_EQ(job.processes[static_cast<size_t>(parts.runs[0].processes[0])].pid, 10)
      << "pids tell which began first";
  EXPECT_EQ(parts.owner(job, {1, 1}), 1);
  EXPECT_EQ(parts.owner(job, {3, 1}), 0);
}

}  // namespace
}  // namespace ncclog
