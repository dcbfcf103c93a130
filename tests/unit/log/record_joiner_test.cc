#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "log/event.h"

namespace ncclog {
namespace {

/// Records as "first line number+lines: text".
std::vector<std::string> joined_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> records;
  RecordJoiner joiner([&](const Line& record, int count) {
    records.push_back(std::to_string(record.number) + "+" + std::to_string(count) + ": " +
                      std::string(record.text));
  });
  uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.text = text;
    line.number = ++number;
    joiner.add(line);
  }
  joiner.finish();
  return records;
}

using Records = std::vector<std::string>;

TEST(RecordJoiner, HandsOrdinaryLinesOn) {
  EXPECT_EQ(joined_lines({"a", "", "node:1:2 [0] NCCL INFO x"}),
            (Records{"1+1: a", "2+1: ", "3+1: node:1:2 [0] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsARecordThatAPageWrapped) {
  EXPECT_EQ(joined_lines({"[2026-02-03 04:05:06] node:1:2 [1] misc/shmutils.cc:129",
                          "NCCL WARN Error while attaching to shared memory segment x (size 0), ",
                          "error: No such file or directory (2)"}),
            (Records{"1+3: [2026-02-03 04:05:06] node:1:2 [1] misc/shmutils.cc:129 NCCL WARN Error "
                     "while attaching to shared memory segment x (size 0), error: No such file or "
                     "directory (2)"}));
}

TEST(RecordJoiner, JoinsAHeaderThatWasWrappedAnywhereBehindItsProcess) {
  EXPECT_EQ(joined_lines({"node:1:2 [1]", "NCCL INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] NCCL ", "INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2", "[1] NCCL INFO x"}),
            (Records{"1+2: node:1:2 [1] NCCL INFO x"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] NCCL", "text"}),
            (Records{"1+1: node:1:2 [1] NCCL", "2+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1]", "node:1:2 [1] NCCL INFO x"}),
            (Records{"1+1: node:1:2 [1]", "2+1: node:1:2 [1] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsAFrameworkRecordThatATerminalCut) {
  const std::string begin =
      "[rank6]:[E429 13:55:49.384372190 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID ";
  const std::string stuck = "0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck for 480 ";
  const std::string seconds = "seconds without making progress in monitoring enqueued collectives.";
  const std::string whole = begin + "0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck ";
  // In the middle of a word, and where the blank at the line's end was lost.
  EXPECT_EQ(joined_lines(
                {whole + "for 480 secon", "ds without making progress in monitoring enqueued col"}),
            (Records{"1+1: " + whole + "for 480 secon",
                     "2+1: ds without making progress in monitoring enqueued col"}));
  EXPECT_EQ(joined_lines({whole + "for 480 secon",
                          "ds without making progress in monitoring enqueued "
                          "collectives. Then"}),
            (Records{"1+2: " + whole + "for 480 " + seconds + " Then"}));
  EXPECT_EQ(joined_lines({whole + "for 480", seconds}),
            (Records{"1+2: " + whole + "for 480 " + seconds}));
  // What is understood alone, or begins a record, is no rest.
  EXPECT_EQ(joined_lines({whole, "Traceback (most recent call last):"}),
            (Records{"1+1: " + whole, "2+1: Traceback (most recent call last):"}));
  EXPECT_EQ(joined_lines({begin + stuck, "node:1:2 [0] NCCL INFO x"}),
            (Records{"1+1: " + begin + stuck, "2+1: node:1:2 [0] NCCL INFO x"}));
}

TEST(RecordJoiner, JoinsBehindTheSamePrefixOnly) {
  EXPECT_EQ(joined_lines({"3: node:1:2 [1] a.cc:9", "3: NCCL WARN x", "3: y"}),
            (Records{"1+3: 3: node:1:2 [1] a.cc:9 NCCL WARN x y"}));
  EXPECT_EQ(joined_lines({"[0]<stdout>: node:1:2 [1] a.cc:9", "[0]<stdout>: NCCL WARN x"}),
            (Records{"1+2: [0]<stdout>: node:1:2 [1] a.cc:9 NCCL WARN x"}));
  EXPECT_EQ(joined_lines({"3: node:1:2 [1] a.cc:9", "NCCL WARN x", "4: y"}),
            (Records{"1+2: 3: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: 4: y"}));
}

TEST(RecordJoiner, EndsARecordAtABlankLineOrAHeader) {
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "", "text"}),
            (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: ", "4+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "node:1:2 [1] NCCL INFO y"}),
            (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+1: node:1:2 [1] NCCL INFO y"}));
  EXPECT_EQ(
      joined_lines({"node:1:2 [1] a.cc:9", "NCCL WARN x", "node:1:2 [1] b.cc:9", "NCCL WARN y"}),
      (Records{"1+2: node:1:2 [1] a.cc:9 NCCL WARN x", "3+2: node:1:2 [1] b.cc:9 NCCL WARN y"}));
}

TEST(RecordJoiner, GivesUpOnAStubThatNothingContinues) {
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9", "text"}),
            (Records{"1+1: node:1:2 [1] a.cc:9", "2+1: text"}));
  EXPECT_EQ(joined_lines({"node:1:2 [1] a.cc:9"}), (Records{"1+1: node:1:2 [1] a.cc:9"}));
}

TEST(RecordJoiner, PutsAnAnswerBehindItsCommand) {
  EXPECT_EQ(joined_lines({"$ mpirun -np 1 bash -c 'ulimit -l'", "8192", "8192"}),
            (Records{"1+2: $ mpirun -np 1 bash -c 'ulimit -l' 8192", "3+1: 8192"}));
  EXPECT_EQ(joined_lines({"[default0]:$ ulimit -l", "[default0]:8192"}),
            (Records{"1+2: [default0]:$ ulimit -l 8192"}));
  EXPECT_EQ(joined_lines({"$ ulimit -l", "unlimited"}), (Records{"1+2: $ ulimit -l unlimited"}));
  EXPECT_EQ(joined_lines({"$ ulimit -l", "node:1:2 [1] NCCL INFO y"}),
            (Records{"1+1: $ ulimit -l", "2+1: node:1:2 [1] NCCL INFO y"}));
}

TEST(RecordJoiner, CountsEveryLineOnce) {
  const std::vector<std::string> pieces{
      "node:1:2 [1] a.cc:9",     "NCCL WARN x", "rest", "", "$ ulimit -l", "64",
      "node:1:2 [1] NCCL INFO y"};
  for (size_t seed = 0; seed < 2000; ++seed) {
    size_t state = seed;
    size_t count = 0;
    RecordJoiner joiner([&](const Line&, int lines) { count += static_cast<size_t>(lines); });
    for (int i = 0; i < 8; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Line line;
      line.text = pieces[(state >> 33) % pieces.size()];
      joiner.add(line);
    }
    joiner.finish();
    ASSERT_EQ(count, 8u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ncclog
