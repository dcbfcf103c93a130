#include "app/read/progress.h"

#include <gtest/gtest.h>

#include "report/text_layout.h"
#include "support/paths.h"
#include "support/terminal.h"

namespace ncclog {
namespace {

using testing::run_in_terminal;
using testing::TerminalRun;

TEST(ProgressLine, TellsHowFarHowFastAndHowLong) {
  struct Row {
    ReadingState state;
    int columns;
    const char* text;
  };
  const Row kRows[] = {
      {{true, 2, 1'200'000'000, 3'400'000'000, 8, 2.0, "logs/a.log"},
       100,
       "ncclog: 1.2 GB of 3.4 GB (35 %), 600 MB/s, 4 s left: logs/a.log"},
      {{true, 1, 5'000, 0, 1, 2.0, "-"}, 100, "ncclog: 5.0 kB, 2.5 kB/s: -"},
      {{true, 1, 0, 100, 1, 0, ""}, 100, "ncclog: 0 B of 100 B (0 %), 0 B/s"},
      {{true, 1, 1'000'000, 1'000'000'000'000, 1, 1.0, "x"},
       100,
       "ncclog: 1.0 MB of 1.0 TB (0 %), 1.0 MB/s, 277 h left: x"},
      {{true, 1, 1'000, 1'000'000, 1, 1.0, "a/very/long/path/to/some/where/nccl.log"},
       72,
       "ncclog: 1.0 kB of 1.0 MB (0 %), 1.0 kB/s, 16 min left: .../nccl.log"},
      {{true, 1, 1'000, 1'000'000, 1, 1.0, "a.log"}, 20, "ncclog: 1.0 kB of …"},
      {{true, 1, 5, 0, 1, 1.0, "\x1b[2Jx"}, 100, "ncclog: 5 B, 5 B/s: \\x1b[2Jx"},
      {{false, 1, 5, 5, 1, 1.0, "x"}, 100, "ncclog: all is read, judging"},
  };
  for (const Row& row : kRows) {
    const std::string text = progress_text(row.state, row.columns);
    EXPECT_EQ(text, row.text);
    EXPECT_LT(display_width(text), row.columns);
  }
}

TEST(ProgressLine, SummaryCountsWhatWasRead) {
  EXPECT_EQ(reading_summary({}), "");
  EXPECT_EQ(reading_summary({false, 17, 3'400'000'000, 3'400'000'000, 8, 4.0, "x"}),
            "read 3.4 GB of 17 inputs in 4.00 s (850 MB/s) with 8 threads");
  EXPECT_EQ(reading_summary({false, 1, 10, 10, 1, 0.0, "x"}),
            "read 10 B of 1 input in 0.00 s (0 B/s) with 1 thread");
}

TEST(ProgressLine, BytesHaveThreeDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'000), "1.0 kB");
  EXPECT_EQ(bytes_text(99'900), "99.9 kB");
  EXPECT_EQ(bytes_text(123'456'789), "123 MB");
  EXPECT_EQ(bytes_text(999'600), "1.0 MB");
}

/// Reads a log that does not end before a line is drawn.
TerminalRun drawn_run(bool output_too) {
  return run_in_terminal({.arguments = {testing::ncclog_binary().string(), "analyze", "-"},
                          .pieces = {"n:1:2 [0] NCCL INFO Using network Socket\n"},
                          .until_seen = "\rncclog: ",
                          .output_too = output_too});
}

/// Reads a log that goes on until a run without the flag, begun later, has drawn its line.
TerminalRun slow_run(const std::string& flag) {
  return run_in_terminal({.arguments = {testing::ncclog_binary().string(), "analyze", "-", flag},
                          .pieces = {"n:1:2 [0] NCCL INFO Using network Socket\n"},
                          .before_end = [] { drawn_run(/*output_too=*/false); }});
}

TEST(ProgressLine, IsDrawnOnATerminalAndTakenAwayAgain) {
  if (!testing::has_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  const TerminalRun run = drawn_run(/*output_too=*/false);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.seen.find("\rncclog: "), std::string::npos) << run.seen;
  EXPECT_TRUE(run.seen.ends_with("\r\x1b[K")) << run.seen;
  EXPECT_EQ(run.output.find("\r"), std::string::npos);
}

TEST(ProgressLine, IsGoneBeforeTheReport) {
  if (!testing::has_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  const TerminalRun run = drawn_run(/*output_too=*/true);
  const size_t gone = run.seen.rfind("\r\x1b[K");
  const size_t report = run.seen.find("Read 1 line");
  ASSERT_NE(gone, std::string::npos) << run.seen;
  ASSERT_NE(report, std::string::npos) << run.seen;
  EXPECT_LT(gone, report);
}

TEST(ProgressLine, IsNotDrawnWhereNobodyWantsIt) {
  if (!testing::has_terminals()) GTEST_SKIP() << "no pseudo-terminals here";
  EXPECT_EQ(slow_run("--no-progress").seen, "");
  EXPECT_EQ(slow_run("--quiet").seen, "");
}

}  // namespace

}  // namespace ncclog
