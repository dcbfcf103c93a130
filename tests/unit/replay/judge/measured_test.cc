#include "replay/judge/measured.h"

#include <gtest/gtest.h>

#include "support/paths.h"

namespace ncclog {
namespace {

ReplayTiming timing(std::string op, int64_t bytes, double median_us, double factor) {
  ReplayTiming row;
  row.timing.op = std::move(op);
  row.timing.bytes = bytes;
  row.timing.median_us = median_us;
  row.timing.algbw = static_cast<double>(bytes) / median_us / 1e3;
  row.timing.busbw = row.timing.algbw * factor;
  return row;
}

TEST(ReplayMeasurements, TimesOfOneOperationAreACurve) {
  ReplayResult result;
  result.outcome.gpus = {{.gpu = 0, .name = "NVIDIA H200"}, {.gpu = 1, .name = "NVIDIA H200"}};
  result.outcome.settings = {{"NCCL_ALGO", "Ring"}};
  result.timings = {timing("AllReduce", 1 << 26, 400, 1.5), timing("Send", 1 << 20, 50, 1),
                    timing("AllReduce", 1 << 20, 40, 1.5)};
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].by, MeasuredBy::Replay);
  EXPECT_EQ(all[0].op, Operation::AllReduce);
  EXPECT_EQ(all[0].nranks, 4);
  EXPECT_EQ(all[0].gpus, std::vector<std::string>{"NVIDIA H200"});
  EXPECT_EQ(all[0].settings.size(), 1U);
  ASSERT_EQ(all[0].points.size(), 2U);
  EXPECT_EQ(all[0].points[0].bytes, 1 << 20);
  EXPECT_NEAR(all[0].points[1].busbw(), 251.66, 0.01);
  EXPECT_EQ(all[1].op, Operation::SendRecv);
  EXPECT_EQ(all[1].nranks, -1);
}

TEST(ReplayMeasurements, TheSeriesCountsAndVariedSettingsAreMeasurementsOfTheirOwn) {
  ReplayResult result;
  ReplayTiming first = timing("AllReduce", 1 << 20, 40, 1);
  first.timing.series_us = 20;
  first.timing.series_busbw = 52.4;
  ReplayTiming second = timing("AllReduce", 1 << 20, 80, 1);
  second.settings = "NCCL_PROTO=LL";
  result.timings = {first, second};
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].points[0].busbw(), 52.4);
  EXPECT_DOUBLE_EQ(all[0].points[0].out_of_place.time_us, 20);
  EXPECT_EQ(all[0].nranks, 2);
  ASSERT_EQ(all[1].settings.size(), 1U);
  EXPECT_EQ(all[1].settings[0].second, "LL");
}

TEST(ReplayMeasurements, ARealResultIsReadBack) {
  const auto file = testing::source_dir() / "sample_logs/replay/healthy/result.json";
  const ReplayResult result = parse_result(testing::read_file(file), "result.json");
  const std::vector<Measurement> all = replay_measurements(result);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].op, Operation::AllReduce);
  EXPECT_EQ(all[0].nranks, 2);
  EXPECT_EQ(all[0].nhosts, 1);
  EXPECT_NEAR(all[0].points.at(0).busbw(), 300.15, 0.01);
}

}  // namespace
}  // namespace ncclog
