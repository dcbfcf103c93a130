#include "model/output_starts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/derive/build_job.h"

namespace ncclog {
namespace {

constexpr int kExit = -1;   ///< A launcher tells the end of all.
constexpr int kRaise = -2;  ///< A process raises.

/// What a program prints: a number is the line of that number, whose shape no other one has.
struct Printed {
  int what;
  uint64_t line;
};

OutputStarts starts_of(const std::vector<int>& output, size_t begin, size_t end) {
  OutputStarts starts;
  for (size_t i = begin; i < end; ++i) {
    const std::string text = output[i] < 0 ? std::string("it failed, and says so")
                                           : std::string(13, static_cast<char>('a' + output[i]));
    starts.note({0, i + 1}, text);
    if (output[i] < 0) starts.end(output[i] == kExit ? OutputBreak::End : OutputBreak::Failure);
  }
  return starts;
}

std::vector<uint64_t> restarts(const std::vector<int>& output, bool is_one_voice = false) {
  std::vector<uint64_t> lines;
  const OutputStarts starts = starts_of(output, 0, output.size());
  for (const SourceRef where : starts.restarts(is_one_voice)) lines.push_back(where.line);
  return lines;
}

using Lines = std::vector<uint64_t>;

TEST(OutputStarts, AFurtherRunBeginsWhereTheOpeningComesAgainBehindAnEnd) {
  EXPECT_EQ(restarts({0, 1, 2, 3, kExit, 9, 0, 1, 2, 3}), (Lines{7}));
  EXPECT_EQ(restarts({0, 1, 2, kExit, 0, 1, 2, 4, 5, kExit, kExit, 0, 1, 2}), (Lines{5, 12}));
  EXPECT_EQ(restarts({0, 1, 2, 3, 0, 1, 2, 3}), Lines()) << "nobody failed";
  EXPECT_EQ(restarts({0, 1, 2, 3, kExit, 0, 1, 7, 8}), Lines()) << "two lines may be chance";
  EXPECT_EQ(restarts({0, 0, 1, 1, 2, 2, 3, kExit, 0, 1, 2}), Lines()) << "each rank prints them";
}

TEST(OutputStarts, AFailureIsTheEndOfAllWhereOneProcessWrites) {
  const std::vector<int> output = {0, 1, 2, kRaise, 0, 1, 2};
  EXPECT_EQ(restarts(output, true), (Lines{5}));
  EXPECT_EQ(restarts(output, false), Lines()) << "another rank may begin later";
}

TEST(OutputStarts, OpeningsFarBehindAFailureAreNone) {
  std::vector<int> output = {0, 1, 2, kExit};
  output.insert(output.end(), OutputStarts::kWindow, 12);
  output.insert(output.end(), {0, 1, 2});
  EXPECT_EQ(restarts(output), Lines());
}

TEST(OutputStarts, AreTheSameWhereverTheOutputIsCut) {
  std::vector<int> output = {0, 1, 2, 3};
  for (int i = 0; i < 40; ++i) {
    output.insert(output.end(), {i % 20, kRaise, 0, 1, kExit, kRaise, 0, 1, 2});
    if (i % 7 == 0) output.insert(output.end(), 30, 13);
  }
  const OutputStarts whole = starts_of(output, 0, output.size());
  EXPECT_FALSE(whole.restarts(false).empty());
  for (size_t cut = 0; cut <= output.size(); ++cut) {
    OutputStarts parts = starts_of(output, 0, cut);
    parts.merge(starts_of(output, cut, output.size()));
    ASSERT_EQ(parts, whole) << "cut at " << cut;
  }
}

TEST(FindRestarts, AProgramThatWasStartedAgainHasRuns) {
  const std::string opening =
      "Loading config from base.yaml\n"
      "precision bf16, seed 7, output in folder out\n"
      "data set with 4000 samples was opened\n";
  const std::string failure =
      "Traceback (most recent call last):\n"
      "  File \"train.py\", line 4, in main\n"
      "KeyError: 'lr'\n";
  const Job job = job_from_text(opening + failure + opening + "step 3 loss 2.0\n");
  EXPECT_EQ(job.runs, 2U);
}

}  // namespace
}  // namespace ncclog
