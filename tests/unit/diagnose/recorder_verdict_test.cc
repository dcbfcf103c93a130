#include "diagnose/recorder_verdict.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/text.h"
#include "import/flight_recorder.h"
#include "support/paths.h"

namespace ncclog {
namespace {

using testing::read_file;
using testing::source_dir;

/// The dumps of a real run, without its logs.
Job dumps_of(const std::string& sample) {
  Job job;
  for (int rank = 0; rank < 8; ++rank) {
    const auto path =
        source_dir() / "sample_logs" / sample / "logs" / ("fr_" + std::to_string(rank));
    if (!std::filesystem::exists(path)) continue;
    job.flight_recorders.push_back(import_flight_recorder(read_file(path), path.string()).dump);
  }
  return job;
}

TEST(RecorderVerdict, OneSizeOfFourIsNamed) {
  const Job job = dumps_of("size-mismatch");
  const RecorderVerdict verdict = recorder_verdict(job);
  EXPECT_EQ(verdict.kind, RecordedKind::Mismatch);
  EXPECT_EQ(verdict.named, std::vector<int>{3});
  EXPECT_EQ(
      verdict.place,
      "collective 20 of process group default_pg (4 ranks), at "
      "/workspace/pretrain/src/train_rank.py:54 and /workspace/pretrain/src/train_rank.py:50");
}

TEST(RecorderVerdict, ARankThatSkippedACallIsNamedOnceSomebodyGaveUp) {
  Job job = dumps_of("timeout-rank-skips");
  EXPECT_EQ(recorder_verdict(job).kind, RecordedKind::Nothing);
  EXPECT_EQ(recorded_behind_words(job),
            "ranks 0-4,6,7 called collective 29 of process group default_pg (8 ranks), AllReduce "
            "of 1048576 Float, at /workspace/pretrain/src/train_rank.py:54, and rank 5 had not "
            "when the dumps were written");
  job.flight_recorders.front().entries.back().retired = true;
  const RecorderVerdict verdict = recorder_verdict(job);
  EXPECT_EQ(verdict.kind, RecordedKind::Late);
  EXPECT_EQ(verdict.named, std::vector<int>{5});
}

TEST(RecorderVerdict, ARankWithoutADumpIsNeverLate) {
  for (const std::string sample : {"device-changed", "rank-killed"}) {
    Job job = dumps_of(sample);
    ASSERT_EQ(job.flight_recorders.size(), 3U) << sample;
    job.flight_recorders.front().entries.back().retired = true;
    EXPECT_EQ(recorder_verdict(job).kind, RecordedKind::Nothing) << sample;
    EXPECT_EQ(recorded_behind_words(job), "") << sample;
  }
}

TEST(RecorderVerdict, HugeClaimsOfRanksAreLeftOut) {
  Job job;
  FlightRecorderDump dump;
  dump.rank = 0;
  FlightRecorderGroup group{.pg_id = 0, .name = "0"};
  for (int rank = 0; rank < (1 << 20) + 1; ++rank) group.ranks.push_back(rank);
  dump.groups.push_back(std::move(group));
  job.flight_recorders.push_back(std::move(dump));
  EXPECT_TRUE(recorded_groups(job).empty());
}

}  // namespace
}  // namespace ncclog
