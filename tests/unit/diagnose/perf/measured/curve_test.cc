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
  EXPECT_FALSE(curve.climbing);
  EXPECT_EQ(curve.best_at, kMiB << 14);
  EXPECT_EQ(curve.first_at, kMiB);
  EXPECT_FALSE(curve.falls || curve.dips);
}

TEST(Curve, BelowThePlateauItClimbsToItsAsymptote) {
  // The largest size is 704 MB: what it shows is normal for a machine of 472 GB/s.
  const Curve curve = read_curve(machine(80, 472, 22020096, 6));
  EXPECT_TRUE(curve.climbing);
  EXPECT_NEAR(curve.plateau, 472, 1);
  EXPECT_LT(curve.best, 460);
}

TEST(Curve, RowsOfOneSizeDoNotFall) {
  Measurement one;
  for (const double busbw : {230.8, 57.2, 31.8, 29.6})
    one.points.push_back(point(1024 * kMiB, busbw));
  const Curve curve = read_curve(one);
  EXPECT_TRUE(curve.one_size);
  EXPECT_FALSE(curve.falls || curve.dips);
}

TEST(Curve, AFallIsOneThatNoLargerSizeMakesGood) {
  const Curve falls = read_curve(values({7.2, 7.7, 7.6, 7.9, 7.7, 4.8, 3.5, 2.8, 1.5, 0.8}));
  EXPECT_TRUE(falls.falls);
  EXPECT_DOUBLE_EQ(falls.best, 7.9);
  EXPECT_DOUBLE_EQ(falls.plateau, 7.9);
  EXPECT_DOUBLE_EQ(falls.last, 0.8);
  const Curve recovers = read_curve(values({100, 200, 300, 150, 310, 320, 325}));
  EXPECT_FALSE(recovers.falls || recovers.dips);
}

TEST(Curve, ACollapseBehindASmallBestIsAFall) {
  Measurement small = values({0.6, 1.2, 0.8, 0.7, 0.03}, 128 << 10);
  EXPECT_TRUE(read_curve(small).falls);
  small.points.back() = point(2 * kMiB, 0.3);  // Caches may do that.
  EXPECT_FALSE(read_curve(small).falls);
  // One row that cannot be is no curve.
  EXPECT_FALSE(read_curve(values({180, 15, 19, 20, 21, 21.2}, 128 << 10)).falls);
}

TEST(Curve, ASmallStepIsNoFall) {
  const Curve step = read_curve(values({300, 340, 364, 316, 318, 317}));
  EXPECT_FALSE(step.falls);
  EXPECT_TRUE(step.dips);
  // A change of protocol where latency rules.
  const Curve change = read_curve(values({10, 6, 40, 150, 300, 320}));
  EXPECT_FALSE(change.falls || change.dips);
}

TEST(Curve, WaysAreCompared) {
  Measurement one = values({300, 320, 330});
  for (MeasuredPoint& each : one.points) {
    each.in_place = each.out_of_place;
    each.in_place.busbw *= 1.5;
  }
  EXPECT_NEAR(read_curve(one).in_place_gain, 0.5, 1e-9);
}

TEST(Curve, ARepetitionFarFromTheOthersMovesNothing) {
  Measurement one;
  for (const double busbw : {467.0, 466.0, 468.0, 467.5, 467.2, 210.0}) {
    one.points.push_back(point(kMiB << 10, busbw));
  }
  const Curve curve = read_curve(one);
  ASSERT_EQ(curve.sizes.size(), 1U);
  EXPECT_DOUBLE_EQ(curve.sizes[0].busbw(), 467);
  EXPECT_TRUE(curve.one_size);
}

TEST(Curve, WrongResultsAreCounted) {
  Measurement one = values({300, 320, 330});
  one.points[0].wrong = 0;
  one.points[1].wrong = 12;
  EXPECT_EQ(read_curve(one).wrong, 12);
}

TEST(Curve, NothingMeasuredIsNothingSaid) {
  const Curve curve = read_curve({});
  EXPECT_LT(curve.best, 0);
  EXPECT_LT(curve.plateau, 0);
  EXPECT_TRUE(curve.sizes.empty());
  Measurement odd;
  odd.points.push_back({.bytes = -1});
  odd.points.push_back({.bytes = INT64_MAX, .out_of_place = {1e300, 1e300, 1e300}});
  odd.points.push_back({.bytes = 1, .out_of_place = {1e-300, 0, 1e-300}});
  EXPECT_FALSE(std::isnan(read_curve(odd).plateau));
}

}  // namespace
}  // namespace ncclog
