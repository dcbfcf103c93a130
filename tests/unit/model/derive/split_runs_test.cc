// What the job of one run holds, where the logs hold several.

#include "model/derive/split_runs.h"

#include <gtest/gtest.h>

#include "support/job_from_files.h"
#include "support/run_of_two.h"

namespace ncclog {
namespace {

using testing::call_of_two;
using testing::job_from_files;
using testing::kFinishedWork;
using testing::kTimeoutOfTwo;
using testing::rank_of_two;
using testing::run_of_two;

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
