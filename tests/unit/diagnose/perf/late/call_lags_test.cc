#include "diagnose/perf/late/call_lags.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ncclog {
namespace {

/// What a clock shows at each of `calls` calls, a second apart.
std::vector<double> seen_by(int calls, double offset, double drift) {
  std::vector<double> seen;
  for (int c = 0; c < calls; ++c) seen.push_back(c * 1e6 * (1 + drift) + offset);
  return seen;
}

TEST(ClockOffsets, OneHostNeedsNone) {
  double error = -1;
  const RankValues ahead = estimate_clock_offsets({seen_by(100, 0, 0)}, error);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(ahead[0], std::vector<double>(100, 0.0));
}

TEST(ClockOffsets, AClockThatDriftsIsFollowed) {
  double error = -1;
  const RankValues ahead =
      estimate_clock_offsets({seen_by(1000, 0, 0), seen_by(1000, 3.4e6, 50e-6)}, error);
  for (int c = 0; c < 1000; ++c) {
    EXPECT_NEAR(ahead[1][static_cast<size_t>(c)], 3.4e6 + c * 50.0, 1);
  }
}

TEST(ClockOffsets, SingleLateCallsMoveNothing) {
  std::vector<double> late = seen_by(400, -2e6, 0);
  for (size_t c = 0; c < late.size(); c += 10) late[c] += 500'000;
  double error = -1;
  const RankValues ahead = estimate_clock_offsets({seen_by(400, 0, 0), late}, error);
  for (const double each : ahead[1]) EXPECT_NEAR(each, -2e6, 1);
}

TEST(ClockOffsets, NoiseIsInTheError) {
  std::vector<double> noisy = seen_by(640, 0, 0);
  for (size_t c = 0; c < noisy.size(); ++c) noisy[c] += c % 2 == 0 ? 1000 : -1000;
  double error = -1;
  const RankValues ahead = estimate_clock_offsets({seen_by(640, 0, 0), noisy}, error);
  EXPECT_GT(error, 300);
  EXPECT_LT(error, 1500);
}

TEST(ClockOffsets, NoCallsAndNoHostsAreNoTrouble) {
  double error = -1;
  EXPECT_TRUE(estimate_clock_offsets({}, error).empty());
  EXPECT_EQ(estimate_clock_offsets({{}, {}}, error).size(), 2U);
}

}  // namespace
}  // namespace ncclog
