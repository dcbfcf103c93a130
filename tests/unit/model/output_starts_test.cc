#include "model/output_starts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "log/event.h"
#include "model/derive/build_job.h"
#include "support/job_from_files.h"

namespace ncclog {
namespace {

constexpr int kExit = -1;   ///< A launcher tells the end of all.
constexpr int kRaise = -2;  ///< A process raises.

/// An output: a number is the line of that number, whose shape no other one has.
OutputStarts starts_of(const std::vector<int>& output, size_t begin, size_t end) {
  OutputStarts starts;
  for (size_t i = begin; i < end; ++i) {
    const SourceRef where = {0, i + 1};
    const std::string text = output[i] < 0 ? std::string("it failed, and says so")
                                           : std::string(13, static_cast<char>('a' + output[i]));
    starts.note(where, text);
    if (output[i] < 0) starts.end(output[i] == kExit ? OutputBreak::End : OutputBreak::Failure);
    if (output[i] == kRaise) starts.keep_ending(make_record(where, text));
  }
  return starts;
}

using Lines = std::vector<uint64_t>;

Lines restarts(const OutputStarts& starts, bool is_one_voice = false) {
  Lines lines;
  for (const SourceRef where : starts.restarts(is_one_voice)) lines.push_back(where.line);
  return lines;
}

Lines restarts(const std::vector<int>& output, bool is_one_voice = false) {
  return restarts(starts_of(output, 0, output.size()), is_one_voice);
}

TEST(OutputStarts, AFurtherRunBeginsWhereTheOpeningComesAgainBehindAnEnd) {
  EXPECT_EQ(restarts({0, 1, 2, 3, kExit, 9, 0, 1, 2, 3}), (Lines{7}));
  EXPECT_EQ(restarts({0, 1, 2, kExit, 0, 1, 2, 4, 5, kExit, kExit, 0, 1, 2}), (Lines{5, 12}));
  EXPECT_EQ(restarts({0, 1, 2, 3, 0, 1, 2, 3}), Lines()) << "nobody failed";
  EXPECT_EQ(restarts({0, 1, 2, 3, kExit, 0, 1, 7, 8}), Lines()) << "two lines may be chance";
  EXPECT_EQ(restarts({0, 1, 2, 3, kExit, 1, 2, 3}), Lines()) << "a loop below the first line";
  EXPECT_EQ(restarts({0, 0, 1, 1, 2, 2, 3, kExit, 0, 1, 2}), Lines()) << "each rank prints them";
}

TEST(OutputStarts, AFailureIsTheEndOfAllWhereOneProcessWrites) {
  const std::vector<int> output = {0, 1, 2, kRaise, 0, 1, 2};
  EXPECT_EQ(restarts(output, true), (Lines{5}));
  EXPECT_EQ(restarts(output, false), Lines()) << "another rank may begin later";
}

TEST(OutputStarts, OpeningsFarBehindABreakAreNone) {
  std::vector<int> output = {0, 1, 2, kExit};
  output.insert(output.end(), OutputStarts::kWindow, 12);
  output.insert(output.end(), {0, 1, 2});
  EXPECT_EQ(restarts(output), Lines());
}

TEST(OutputStarts, AreTheSameWhereverTheOutputIsCut) {
  std::vector<int> output = {0, 1, 2, 3};
  for (int i = 0; i < 40; ++i) {
    output.insert(output.end(), {4 + i % 9, kRaise, 0, 1, kExit, kRaise, 0, 1, 2});
    if (i % 7 == 0) output.insert(output.end(), 30, 13);
  }
  const OutputStarts whole = starts_of(output, 0, output.size());
  EXPECT_FALSE(whole.restarts(true).empty());
  for (size_t cut = 0; cut <= output.size(); ++cut) {
    OutputStarts parts = starts_of(output, 0, cut);
    parts.merge(starts_of(output, cut, output.size()));
    for (const bool is_one_voice : {false, true})
      ASSERT_EQ(restarts(parts, is_one_voice), restarts(whole, is_one_voice)) << "cut at " << cut;
    ASSERT_EQ(parts.endings().size(), whole.endings().size()) << "cut at " << cut;
  }
}

const std::string kOpening =
    "Loading config from base.yaml\n"
    "precision bf16, seed 7, output in folder out\n"
    "data set with 4000 samples was opened\n";

/// `steps` lines of work, then a traceback.
std::string failing(int steps) {
  std::string text;
  for (int i = 0; i < steps; ++i) text += fmt::format("step {} loss 2.0\n", i);
  return text +
         "Traceback (most recent call last):\n"
         "  File \"train.py\", line 4, in main\n"
         "KeyError: 'lr'\n";
}

TEST(AppendedRuns, AProgramThatWorkedAndWasStartedAgainHasRuns) {
  EXPECT_EQ(job_from_text(kOpening + failing(100) + kOpening + "step 3 loss 2.0\n").runs, 2U);
  const std::string limit =
      "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-01-05T12:00:00 ***\n";
  EXPECT_EQ(job_from_text(kOpening + limit + kOpening + failing(1)).runs, 2U);
}

/// What Slurm says when it ends a job.
std::string cancelled(int job, std::string_view node = "n1") {
  return fmt::format("slurmstepd: error: *** JOB {} ON {} CANCELLED AT 2026-01-05T12:00:00 ***\n",
                     job, node);
}

TEST(AppendedRuns, BeginBehindTheEndOfAnotherJobOfSlurm) {
  std::string other = "Resuming from checkpoint 12\n";
  for (int i = 0; i < 10; ++i) other += fmt::format("learning rate 1e-{}\n", i);
  EXPECT_EQ(job_from_text(kOpening + cancelled(77) + other + cancelled(81, "n2")).runs, 2U);
  EXPECT_EQ(job_from_text(kOpening + cancelled(77) + kOpening + other + cancelled(81)).runs, 2U)
      << "the opening and the number tell of the same run";
  EXPECT_EQ(job_from_text(kOpening + cancelled(77) + other + cancelled(77, "n2")).runs, 1U)
      << "each node says it of its job";
  EXPECT_EQ(job_from_text(kOpening + other + cancelled(77) + cancelled(81)).runs, 1U)
      << "jobs that wrote one output and ended together";
  EXPECT_EQ(job_from_text(kOpening + "slurmstepd: error: *** STEP 7" + cancelled(77) + other +
                          cancelled(77))
                .runs,
            1U)
      << "a torn number";
  const std::string speaks = "n2:72:91 [0] NCCL INFO Using network Socket\n";
  EXPECT_EQ(job_from_text(kOpening + speaks + cancelled(77) + other + speaks + cancelled(81)).runs,
            1U)
      << "a process that goes on";
}

TEST(AppendedRuns, WhatOneRunMayPrintIsNoRunOfItsOwn) {
  const std::string soon = kOpening + failing(2) + kOpening + failing(2);
  EXPECT_EQ(job_from_text(soon).runs, 1U) << "two ranks that fail one after the other";
  const std::string caught = kOpening + "KeyError: 'lr', using 0.1\n" + kOpening;
  EXPECT_EQ(job_from_text(caught).runs, 1U) << "an exception without a traceback";
  std::string tagged;
  const std::string twice_untagged = kOpening + failing(100) + kOpening;
  for (const std::string_view line : split(twice_untagged, '\n'))
    tagged.append("[rank0]: ").append(line).append("\n");
  EXPECT_EQ(job_from_text(tagged).runs, 1U) << "ranks that name themselves";
  const std::string twice = kOpening + failing(100) + kOpening + "step 3 loss 2.0\n";
  const Job two = testing::job_from_files({{"a.log", twice}, {"b.log", kOpening + failing(100)}});
  EXPECT_EQ(two.runs, 1U) << "another output does not begin again";
  EXPECT_EQ(testing::job_from_files({{"a.log", twice}, {"b.log", twice}}).runs, 2U);
}

}  // namespace
}  // namespace ncclog
