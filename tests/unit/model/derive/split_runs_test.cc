// Which lines belong to which run, and what the job of one run holds, where the logs hold several.

#include "model/derive/split_runs.h"

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

TEST(SplitRuns, OneRunIsNotCopied) {
  const SplitRuns split = split_runs(job_from_files({{"x", run_of_two(10, 0xc)}}));
  EXPECT_TRUE(split.runs.empty());
  EXPECT_TRUE(split.rest.logs.empty());
}

TEST(SplitRuns, WhatBelongsToNobodyIsTheRest) {
  const Job job = job_from_files(
      {{"x", rank_of_two(10, 0, 0xc) + rank_of_two(20, 0, 0xd) + rank_of_two(11, 1, 0xc) +
                 rank_of_two(21, 1, 0xd) + kTimeoutOfTwo}});
  const Job rest = split_runs(job).rest;
  EXPECT_EQ(rest.losses.lines, 0U);
  EXPECT_EQ(rest.processes.size(), 1U) << "that of rank 0's watchdog";
}

TEST(SplitRuns, OfManyRunsNoneIsTakenOut) {
  std::string text;
  for (int i = 1; i <= 17; ++i) text += run_of_two(10 * i, 0xa0 + i);
  const Job job = job_from_files({{"x", text}});
  EXPECT_EQ(job.runs, 17U);
  EXPECT_TRUE(split_runs(job).runs.empty());
}

TEST(SplitRuns, TheJobOfARunHoldsNothingOfTheOther) {
  const Job job = job_from_files(
      {{"x", run_of_two(10, 0xc) + kTimeoutOfTwo + run_of_two(20, 0xd) + kFinishedWork}});
  const SplitRuns split = split_runs(job);
  ASSERT_EQ(split.runs.size(), 2U);
  const Job& first = split.runs[0];
  ASSERT_EQ(first.processes.size(), 2U);
  EXPECT_EQ(first.processes[0].pid, 10);
  EXPECT_EQ(first.processes[0].logs.size(), 2U) << "[rank0] is rank 0 of this run";
  ASSERT_EQ(first.communicators.size(), 1U);
  EXPECT_EQ(first.communicators[0].id, "0xc");
  EXPECT_EQ(first.losses.lines, 5U);
  EXPECT_EQ(split.runs[1].communicators[0].id, "0xd");
  EXPECT_TRUE(split.rest.logs.empty());
}

TEST(SplitRuns, ARunKeepsTheFirstDifferenceThatWasFoundByReadingAgain) {
  std::string log = run_of_two(10, 0xc);
  for (int i = 0; i < 3000; ++i) {
    // Of a period that repeats nowhere, so that single calls are not known any more.
    log += call_of_two(10, 0, 8 + i * i) + call_of_two(11, 1, i == 1234 ? 7 : 8 + i * i);
  }
  Job job = job_from_files({{"x", log + kTimeoutOfTwo + run_of_two(20, 0xd)}});
  ASSERT_EQ(job.communicators.size(), 2U);
  std::optional<FirstDifference>& found = job.communicators[0].difference;
  ASSERT_TRUE(found && !found->is_exact());
  found->index = found->at_most = 1234;
  const SplitRuns split = split_runs(job);
  ASSERT_EQ(split.runs.size(), 2U);
  const Job& first = split.runs[0];
  ASSERT_TRUE(first.communicators[0].difference.has_value());
  EXPECT_EQ(first.communicators[0].difference->index, 1234U);
  EXPECT_TRUE(first.communicators[0].difference->is_exact());
}

}  // namespace
}  // namespace ncclog
