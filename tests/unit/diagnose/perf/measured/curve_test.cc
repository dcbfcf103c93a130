#include "diagnose/perf/measured/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace ncclog {
namespace {

MeasuredPoint point(int64_t bytes, double busbw, double factor = 1.75) {
  MeasuredPoint one;
  one.bytes = bytes;
  const double algbw = busbw / factor;
  one.out_of_place = {static_cast<double>(bytes) / algbw / 1e3, algbw, busbw};
  return one;
}

constexpr int64_t kMiB = int64_t{1} << 20;

/// A machine whose calls cost a start and a rate: sizes double from `first`.
Measurement machine(double start_us, double busbw, int64_t first, int sizes) {
  Measurement one;
  constexpr double kFactor = 1.75;
  for (int i = 0; i < sizes; ++i) {
    const int64_t bytes = first << i;
    const double time = start_us + kFactor * static_cast<double>(bytes) / busbw / 1e3;
    one.points.push_back(point(bytes, kFactor * static_cast<double>(bytes) / time / 1e3));
  }
  return one;
}

Measurement values(const std::vector<double>& busbw, int64_t first = 16 * kMiB) {
  Measurement one;
  for (size_t i = 0; i < busbw.size(); ++i) one.points.push_back(point(first << i, busbw[i]));
  return one;
}

TEST(Curve, APlateauIsFoundAndNotClimbed) {
  const Curve curve = read_curve(machine(80, 480, kMiB, 15));
  EXPECT_NEAR(curve.plateau, 479, 1.5);
  EXPECT_FALSE(curve.is_climbing);
  EXPECT_EQ(curve.peak_at, kMiB << 14);
  EXPECT_TRUE(curve.falls.empty());
  EXPECT_EQ(curve.reversals, 0);
}

TEST(Curve, BelowThePlateauItClimbsToItsAsymptote) {
  // The largest size is 704 MB: what it shows is normal for a machine of 472 GB/s.
  const Curve curve = read_curve(machine(80, 472, 22020096, 6));
  EXPECT_TRUE(curve.is_climbing);
  EXPECT_LT(curve.plateau, 0);
  EXPECT_NEAR(curve.asymptote, 472, 1);
  EXPECT_NEAR(curve.start_us, 80, 1);
  EXPECT_LT(curve.asymptote_error, 1);
  EXPECT_NEAR(reachable_at(curve, 472, 22020096 << 5), curve.peak, 0.5);
  EXPECT_NEAR(reachable_at(curve, 480, 704643072), 465, 2);
}

TEST(Curve, LatencyIsThatOfSmallSizes) {
  EXPECT_NEAR(read_curve(machine(60, 480, 8, 30)).latency_us, 60, 0.1);
  EXPECT_LT(read_curve(machine(60, 480, kMiB, 10)).latency_us, 0);
}

TEST(Curve, ACliffIsSaidWithItsSizes) {
  const Curve falls = read_curve(values({7.2, 7.7, 7.6, 7.9, 7.7, 4.8, 3.5, 2.8, 1.5, 0.8}));
  ASSERT_EQ(falls.falls.size(), 1U);
  EXPECT_EQ(falls.falls[0].from, 16 * kMiB << 4);
  EXPECT_DOUBLE_EQ(falls.falls[0].before, 7.7);
  EXPECT_DOUBLE_EQ(falls.falls[0].after, 0.8);
  EXPECT_FALSE(falls.falls[0].recovers);
  EXPECT_TRUE(falls.is_falling);
  EXPECT_LT(falls.asymptote, 0);

  const Curve dips = read_curve(values({100, 200, 300, 150, 310, 320, 325}));
  ASSERT_EQ(dips.falls.size(), 1U);
  EXPECT_TRUE(dips.falls[0].recovers);
  EXPECT_FALSE(dips.is_falling);
  EXPECT_EQ(dips.reversals, 2);
}

TEST(Curve, ASmallStepIsNoCliff) {
  EXPECT_TRUE(read_curve(values({300, 340, 364, 316, 318, 317})).falls.empty());
  // A change of protocol where latency rules.
  EXPECT_TRUE(read_curve(values({10, 6, 40, 150, 300, 320})).falls.empty());
}

TEST(Curve, WaysAreCompared) {
  Measurement one = values({300, 320, 330});
  for (MeasuredPoint& each : one.points) {
    each.in_place = each.out_of_place;
    each.in_place.busbw *= 1.5;
  }
  EXPECT_NEAR(read_curve(one).in_place_gain, 0.5, 1e-9);
  EXPECT_TRUE(read_curve(one).peak_in_place);
}

TEST(Curve, ARepetitionFarFromTheOthersIsFound) {
  Measurement one;
  for (const double busbw : {467.0, 466.0, 468.0, 467.5, 467.2, 210.0}) {
    one.points.push_back(point(kMiB << 10, busbw));
  }
  const Curve curve = read_curve(one);
  EXPECT_EQ(curve.slow_count, 1);
  ASSERT_EQ(curve.slow.size(), 1U);
  EXPECT_DOUBLE_EQ(curve.slow[0].busbw, 210);
  EXPECT_EQ(curve.sizes.size(), 1U);
  EXPECT_EQ(curve.sizes[0].repetitions, 6);
  // A spread as wide as all of them have is none.
  Measurement noisy;
  for (const double busbw : {300.0, 350.0, 400.0, 450.0, 320.0, 380.0}) {
    noisy.points.push_back(point(kMiB << 10, busbw));
  }
  EXPECT_EQ(read_curve(noisy).slow_count, 0);
}

TEST(Curve, WrongResultsAndRowsWithoutTimeAreCounted) {
  Measurement one = values({300, 320, 330});
  one.points[0].wrong = 0;
  one.points[1].wrong = 12;
  one.points[2].out_of_place = {0, 0, 0};
  const Curve curve = read_curve(one);
  EXPECT_EQ(curve.wrong, 12);
  EXPECT_EQ(curve.wrong_rows, 1);
  EXPECT_EQ(curve.unmeasured_rows, 1);
}

TEST(Curve, NothingMeasuredIsNothingSaid) {
  const Curve curve = read_curve({});
  EXPECT_LT(curve.peak, 0);
  EXPECT_LT(curve.plateau, 0);
  EXPECT_TRUE(curve.sizes.empty());
  EXPECT_DOUBLE_EQ(reachable_at(curve, 480, kMiB), 480);
  Measurement odd;
  odd.points.push_back({.bytes = -1});
  odd.points.push_back({.bytes = INT64_MAX, .out_of_place = {1e300, 1e300, 1e300}});
  odd.points.push_back({.bytes = 1, .out_of_place = {1e-300, 0, 1e-300}});
  EXPECT_FALSE(std::isnan(read_curve(odd).start_us));
}

}  // namespace
}  // namespace ncclog
