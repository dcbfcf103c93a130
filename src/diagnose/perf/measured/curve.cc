#include "diagnose/perf/measured/curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace ncclog {
namespace {

/// The middle of `values`, the lower one of two; -1: there are none.
double middle_of(std::vector<double> values) {
  if (values.empty()) return -1;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The values of one way that were measured.
template <typename Points>
std::vector<double> measured(const Points& points, MeasuredValue MeasuredPoint::*way,
                             double MeasuredValue::*value) {
  std::vector<double> values;
  for (const MeasuredPoint* point : points) {
    const double number = point->*way.*value;
    if (number >= 0) values.push_back(number);
  }
  return values;
}

using Repetitions = std::vector<const MeasuredPoint*>;

MeasuredPoint size_of(int64_t bytes, const Repetitions& points) {
  const MeasuredPoint& best = **std::ranges::max_element(points, {}, &MeasuredPoint::busbw);
  MeasuredPoint size = {.where = best.where, .text = best.text, .bytes = bytes};
  for (const auto way : {&MeasuredPoint::out_of_place, &MeasuredPoint::in_place}) {
    (size.*way).busbw = middle_of(measured(points, way, &MeasuredValue::busbw));
    (size.*way).time_us = middle_of(measured(points, way, &MeasuredValue::time_us));
  }
  return size;
}

/// Growth between two sizes as that of one doubling.
double growth_per_doubling(const MeasuredPoint& smaller, const MeasuredPoint& larger) {
  const double doublings =
      std::log2(static_cast<double>(larger.bytes) / static_cast<double>(smaller.bytes));
  return doublings > 0 ? std::pow(larger.busbw() / smaller.busbw(), 1 / doublings) - 1 : 0;
}

/// The largest size is the best, and clearly better than the one before.
bool is_climbing(const std::vector<MeasuredPoint>& sizes) {
  constexpr double kClimbing = 0.02;
  if (sizes.size() < 2) return false;
  const MeasuredPoint& last = sizes.back();
  const auto best = std::ranges::max_element(sizes, {}, &MeasuredPoint::busbw);
  return best->bytes == last.bytes &&
         growth_per_doubling(sizes[sizes.size() - 2], last) > kClimbing;
}

struct Fit {
  double start_us = 0;
  double rate = 0;   ///< Microseconds a byte.
  double error = 0;  ///< Standard error of the rate, as a part of it.
};

/// Least squares of relative errors: each size counts the same.
std::optional<Fit> fit_line(const std::vector<MeasuredPoint>& sizes, size_t count) {
  if (sizes.size() < count) return std::nullopt;
  // In weights w = 1 / t^2: minimises the sum of w * (start + rate * bytes - t)^2.
  double w = 0;
  double wx = 0;
  double wxx = 0;
  double wy = 0;
  double wxy = 0;
  for (size_t i = sizes.size() - count; i < sizes.size(); ++i) {
    const auto x = static_cast<double>(sizes[i].bytes);
    const double y = sizes[i].time_us();
    if (y <= 0) return std::nullopt;
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  const double spread = w * wxx - wx * wx;
  if (!(spread > 0)) return std::nullopt;  // Nor a NaN, of numbers that no machine has.
  Fit fit = {.start_us = (wxx * wy - wx * wxy) / spread, .rate = (w * wxy - wx * wy) / spread};
  double residuals = 0;
  for (size_t i = sizes.size() - count; i < sizes.size(); ++i) {
    const double expected = fit.start_us + fit.rate * static_cast<double>(sizes[i].bytes);
    residuals += std::pow(expected / sizes[i].time_us() - 1, 2);
  }
  if (!(fit.rate > 0) || !std::isfinite(fit.start_us)) return std::nullopt;
  const double variance = count > 2 ? residuals / static_cast<double>(count - 2) : 0;
  fit.error = std::sqrt(variance * w / spread) / fit.rate;
  return fit;
}

/// The bandwidth of the rate alone, GB/s; -1: too few large sizes, or they do not follow a line.
double asymptote_of(const std::vector<MeasuredPoint>& sizes) {
  constexpr size_t kFew = 3;
  constexpr size_t kMore = 5;
  constexpr double kMostError = 0.25;
  const MeasuredPoint& last = sizes.back();
  const std::optional<Fit> few = fit_line(sizes, kFew);
  if (!few || last.time_us() <= 0) return -1;
  // Bus bandwidth by algorithm bandwidth.
  const double factor = last.busbw() * last.time_us() * 1e3 / static_cast<double>(last.bytes);
  const double by_few = factor / few->rate / 1e3;
  double error = few->error * by_few;
  if (const std::optional<Fit> more = fit_line(sizes, kMore)) {
    error = std::max(error, std::abs(by_few - factor / more->rate / 1e3));
  }
  // A start below zero: larger sizes are slower, so there is nothing that the curve heads for.
  const bool fits = few->start_us >= 0 && error <= kMostError * by_few;
  return fits ? by_few : -1;
}

double in_place_gain_of(const std::vector<MeasuredPoint>& sizes) {
  constexpr size_t kTop = 3;
  std::vector<double> gains;
  for (size_t i = sizes.size(); i > 0 && gains.size() < kTop; --i) {
    const MeasuredPoint& size = sizes[i - 1];
    const double out = size.out_of_place.busbw;
    const double in = size.in_place.busbw;
    if (out > 0 && in > 0) gains.push_back(in / out - 1);
  }
  return gains.empty() ? 0 : middle_of(gains);
}

}  // namespace

Curve read_curve(const Measurement& measurement) {
  Curve curve;
  std::map<int64_t, Repetitions> by_size;
  for (const MeasuredPoint& point : measurement.points) {
    curve.wrong += std::max<int64_t>(point.wrong, 0);
    if (point.bytes > 0) by_size[point.bytes].push_back(&point);
    if (point.busbw() <= curve.best) continue;
    curve.best = point.busbw();
    curve.best_at = point.bytes;
  }
  for (const auto& [bytes, points] : by_size) curve.sizes.push_back(size_of(bytes, points));
  if (!(curve.best > 0) || !std::isfinite(curve.best)) {
    curve.best = -1;
    curve.best_at = -1;
    return curve;
  }
  curve.plateau = curve.best;
  std::vector<MeasuredPoint> sizes = curve.sizes;
  std::erase_if(sizes, [](const MeasuredPoint& size) { return !(size.busbw() > 0); });
  curve.one_size = sizes.size() <= 1;
  if (sizes.empty()) return curve;
  curve.first_at = curve.sizes.front().bytes;
  curve.last_at = sizes.back().bytes;
  curve.last = sizes.back().busbw();
  curve.in_place_gain = in_place_gain_of(sizes);
  curve.climbing = is_climbing(sizes);
  constexpr double kMostBeyond = 1.25;  // A few rows do not carry further than that.
  const double asymptote = curve.climbing ? asymptote_of(sizes) : -1;
  if (asymptote > 0) curve.plateau = std::clamp(asymptote, curve.best, kMostBeyond * curve.best);
  constexpr int64_t kSmall = 1 << 20;  // Below, latency decides.
  const bool is_large = curve.best_at >= kSmall;
  // Rows of one size differ for another reason than their size.
  // Caches make sizes below it two to four times as fast as those above, and no more: half of all
  // sizes before the last must be so far above it.
  std::vector<double> before;
  for (const MeasuredPoint& size : sizes) before.push_back(size.busbw());
  before.pop_back();
  std::ranges::sort(before);
  const double middle = before.empty() ? 0 : before[before.size() / 2];
  const bool collapses = curve.last_at >= kSmall && curve.last < middle / 8;
  curve.falls = !curve.one_size && (collapses || (is_large && curve.last < curve.best / 2));
  // Caches make small sizes faster than large ones, but latency never does.
  const bool ends_low =
      !is_large && curve.best_at > 0 && curve.last_at >= kSmall && curve.last < curve.best / 2;
  curve.dips =
      !curve.one_size && !curve.falls && ((is_large && curve.last < 0.9 * curve.best) || ends_low);
  return curve;
}

}  // namespace ncclog
