#include "diagnose/compare/step_times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

/// Lines of steps 1, 2, … that take so many milliseconds, as Megatron prints them.
std::vector<StepLine> megatron(const std::vector<double>& milliseconds) {
  std::vector<StepLine> lines;
  for (const double time : milliseconds) {
    const auto step = static_cast<int64_t>(lines.size()) + 1;
    lines.push_back(
        {step,
         {{0, lines.size() + 1},
          fmt::format("[2026-01-05 12:00:00] iteration {:8}/     500 | consumed samples: 1 "
                      "| elapsed time per iteration (ms): {:.1f} | loss: 2.1 |",
                      step, time)}});
  }
  return lines;
}

/// So many steps around `middle`, by up to `spread` either way.
std::vector<double> around(double middle, double spread, int steps = 40) {
  std::vector<double> times;
  for (int n = 0; n < steps; ++n) times.push_back(middle + spread * (n % 5 - 2) / 2);
  return times;
}

TEST(StepTimes, AreReadAsFrameworksPrintThem) {
  const std::vector<std::pair<const char*, double>> rows = {
      {" iteration 10/ 500 | elapsed time per iteration (ms): 812.3 | lr: 1", 0.8123},
      {"steps: 10 loss: 6.1234 iter time (s): 0.512 samples/sec: 62.5", 0.512},
      {"  1%|1         | 24/1752 [01:08<1:23:01,  2.88s/it]", 2.88},
      {"Epoch 2:  10%|#         | 100/1000 [00:10<01:30, 10.00it/s, v_num=0]", 0.1},
      {" 1%|1 | 1/1752 [00:00<?, ?it/s]", -1},
      {"step: 10  loss:  7.1234", -1},
      {"elapsed time per iteration (ms): -5", -1},
      {"elapsed time per iteration (ms):", -1},
      {"0.0it/s", -1},
      {"", -1}};
  for (const auto& [line, seconds] : rows)
    EXPECT_NEAR(printed_step_time(line), seconds, 1e-9) << line;
}

TEST(StepTimes, LeaveOutTheFirstOnesAndTellTheMiddle) {
  std::vector<double> times = around(800, 20);
  times[0] = 60000;
  const auto of = step_times(megatron(times));
  ASSERT_TRUE(of);
  EXPECT_EQ(of->steps, 36u);
  EXPECT_NEAR(of->median, 0.8, 1e-9);
  EXPECT_NEAR(of->low, 0.78, 1e-9);
  EXPECT_NEAR(of->high, 0.82, 1e-9);
  EXPECT_NE(of->line.text.find("(ms): 800.0"), std::string::npos);
  EXPECT_FALSE(step_times(megatron(around(800, 20, 10))));
  EXPECT_FALSE(step_times({}));
}

TEST(StepTimes, AreTakenFromClocksWhereNoLinePrintsThem) {
  std::vector<StepLine> lines;
  for (int n = 0; n < 30; ++n) {
    const StepLine line = {10 * (n + 1),
                           {{0, lines.size() + 1},
                            fmt::format("2026-01-05 12:{:02}:{:02},500 - root - INFO - step: {}",
                                        n / 12, n % 12 * 5, 10 * (n + 1))}};
    lines.push_back(line);
    lines.push_back(line);  // Of another rank.
  }
  const auto of = step_times(lines);
  ASSERT_TRUE(of);
  EXPECT_NEAR(of->median, 0.5, 1e-9);
}

TEST(StepTimes, DifferWhereMostOfOneAreSlowerThanMostOfTheOther) {
  const auto compared = [](double good, double bad, double spread) {
    return step_difference(*step_times(megatron(around(good, spread))),
                           *step_times(megatron(around(bad, spread))));
  };
  const auto slower = compared(800, 1200, 50);
  ASSERT_TRUE(slower);
  EXPECT_TRUE(slower->bad_is_slower);
  EXPECT_NEAR(slower->ratio, 1.5, 1e-9);
  EXPECT_NEAR(slower->bad.time_us, 1.2e6, 1e-3);
  EXPECT_FALSE(compared(1200, 800, 50)->bad_is_slower);
  EXPECT_FALSE(compared(800, 1200, 300)) << "steps of one run differ as much";
  EXPECT_FALSE(compared(800, 820, 1)) << "too little to lead with";
}

}  // namespace
}  // namespace ncclog
