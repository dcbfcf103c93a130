#include "diagnose/perf/measured/curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

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

CurveSize size_of(int64_t bytes, const Repetitions& points) {
  CurveSize size;
  size.bytes = bytes;
  size.repetitions = static_cast<int>(points.size());
  size.out_of_place =
      middle_of(measured(points, &MeasuredPoint::out_of_place, &MeasuredValue::busbw));
  size.in_place = middle_of(measured(points, &MeasuredPoint::in_place, &MeasuredValue::busbw));
  const bool is_in_place = size.in_place > size.out_of_place;
  size.busbw = std::max(size.in_place, size.out_of_place);
  const auto way = is_in_place ? &MeasuredPoint::in_place : &MeasuredPoint::out_of_place;
  size.time_us = middle_of(measured(points, way, &MeasuredValue::time_us));
  size.where = (*std::ranges::max_element(points, {}, &MeasuredPoint::busbw))->where;
  return size;
}

void find_peak(const Measurement& measurement, Curve& curve) {
  for (const MeasuredPoint& point : measurement.points) {
    if (point.busbw() <= curve.peak) continue;
    curve.peak = point.busbw();
    curve.peak_at = point.bytes;
    curve.peak_in_place = point.in_place.busbw > point.out_of_place.busbw;
    curve.peak_line = point.where;
    curve.peak_text = point.text;
  }
}

/// What was not measured, or measured with wrong results.
void count_flaws(const Measurement& measurement, Curve& curve) {
  for (const MeasuredPoint& point : measurement.points) {
    if (point.wrong >= 0) curve.wrong = std::max<int64_t>(curve.wrong, 0) + point.wrong;
    if (point.wrong > 0 && curve.wrong_rows++ == 0) curve.first_wrong = point.where;
    const bool has_time = point.out_of_place.time_us > 0 || point.in_place.time_us > 0;
    const bool claims_time = point.out_of_place.time_us == 0 || point.in_place.time_us == 0;
    if (point.bytes > 0 && (point.busbw() < 0 || (claims_time && !has_time))) {
      ++curve.unmeasured_rows;
    }
  }
}

// Repetitions of a size that are far off, by the median of all distances from the median (MAD),
// which a few outliers do not move.

void find_slow(int64_t bytes, const Repetitions& points, Curve& curve) {
  constexpr size_t kFewest = 4;
  constexpr double kDeviations = 5 * 1.4826;  // MADs of five standard deviations.
  constexpr double kNoticeable = 0.1;
  constexpr size_t kMostListed = 16;
  for (const auto way : {&MeasuredPoint::out_of_place, &MeasuredPoint::in_place}) {
    const std::vector<double> values = measured(points, way, &MeasuredValue::busbw);
    if (values.size() < kFewest) continue;
    const double median = middle_of(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - median));
    const double allowed = std::max(kDeviations * middle_of(distances), kNoticeable * median);
    for (const MeasuredPoint* point : points) {
      const double busbw = (point->*way).busbw;
      if (busbw < 0 || busbw >= median - allowed) continue;
      ++curve.slow_count;
      if (curve.slow.size() < kMostListed) {
        curve.slow.push_back({bytes, busbw, median, point->where});
      }
    }
  }
}

/// The sizes that are known and have a bandwidth, ascending.
std::vector<CurveSize> known_sizes(const Curve& curve) {
  std::vector<CurveSize> sizes;
  for (const CurveSize& size : curve.sizes) {
    if (size.bytes > 0 && size.busbw > 0) sizes.push_back(size);
  }
  return sizes;
}

// Where bandwidth counts at all: latency rules below a fifth of the peak, and changes of protocol
// make steps there.
constexpr double kWhereItCounts = 0.2;

/// Growth between two sizes as that of one doubling.
double growth_per_doubling(const CurveSize& smaller, const CurveSize& larger) {
  const double doublings =
      std::log2(static_cast<double>(larger.bytes) / static_cast<double>(smaller.bytes));
  return doublings > 0 ? std::pow(larger.busbw / smaller.busbw, 1 / doublings) - 1 : 0;
}

void find_plateau(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr size_t kTop = 3;
  constexpr double kNearlyEqual = 0.05;
  constexpr double kClimbing = 0.02;
  if (sizes.size() < 2) return;
  const CurveSize& last = sizes.back();
  const CurveSize& before = sizes[sizes.size() - 2];
  const auto best = std::ranges::max_element(sizes, {}, &CurveSize::busbw);
  curve.is_climbing = best->bytes == last.bytes && growth_per_doubling(before, last) > kClimbing;
  if (curve.is_climbing || sizes.size() < kTop) return;
  std::vector<double> top;
  for (size_t i = sizes.size() - kTop; i < sizes.size(); ++i) top.push_back(sizes[i].busbw);
  const double median = middle_of(top);
  const auto is_near = [&](double busbw) {
    return std::abs(busbw - median) <= kNearlyEqual * median;
  };
  if (std::ranges::all_of(top, is_near)) curve.plateau = median;
}

void find_latency(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr int64_t kSmall = 4096;
  constexpr size_t kMost = 8;
  std::vector<double> times;
  for (const CurveSize& size : sizes) {
    if (size.bytes <= kSmall && size.time_us > 0 && times.size() < kMost) {
      times.push_back(size.time_us);
    }
  }
  curve.latency_us = middle_of(times);
}

struct Fit {
  double start_us = 0;
  double rate = 0;   ///< Microseconds a byte.
  double error = 0;  ///< Standard error of the rate, as a part of it.
};

/// Least squares of relative errors: each size counts the same.
std::optional<Fit> fit_line(const std::vector<CurveSize>& sizes, size_t count) {
  if (sizes.size() < count) return std::nullopt;
  // In weights w = 1 / t^2: minimises the sum of w * (start + rate * bytes - t)^2.
  double w = 0;
  double wx = 0;
  double wxx = 0;
  double wy = 0;
  double wxy = 0;
  for (size_t i = sizes.size() - count; i < sizes.size(); ++i) {
    const auto x = static_cast<double>(sizes[i].bytes);
    const double y = sizes[i].time_us;
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
    residuals += std::pow(expected / sizes[i].time_us - 1, 2);
  }
  if (!(fit.rate > 0) || !std::isfinite(fit.start_us)) return std::nullopt;
  const double variance = count > 2 ? residuals / static_cast<double>(count - 2) : 0;
  fit.error = std::sqrt(variance * w / spread) / fit.rate;
  return fit;
}

void fit_large_sizes(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr size_t kFew = 3;
  constexpr size_t kMore = 5;
  constexpr double kMostError = 0.25;
  if (sizes.empty()) return;
  const CurveSize& last = sizes.back();
  if (last.time_us > 0) {
    curve.factor = last.busbw * last.time_us * 1e3 / static_cast<double>(last.bytes);
  }
  const std::optional<Fit> few = fit_line(sizes, kFew);
  if (!few || curve.factor <= 0) return;
  const double by_few = curve.factor / few->rate / 1e3;
  double error = few->error * by_few;
  if (const std::optional<Fit> more = fit_line(sizes, kMore)) {
    error = std::max(error, std::abs(by_few - curve.factor / more->rate / 1e3));
  }
  // A start below zero: larger sizes are slower, so there is nothing that the curve heads for.
  if (few->start_us < 0 || !(error <= kMostError * by_few)) return;
  curve.start_us = few->start_us;
  curve.asymptote = by_few;
  curve.asymptote_error = error;
}

void find_falls(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr double kFall = 0.2;
  constexpr double kNoise = 0.03;
  constexpr double kNearWhatWasLost = 0.9;
  for (size_t i = 0; i + 1 < sizes.size();) {
    size_t end = i;
    while (end + 1 < sizes.size() && sizes[end + 1].busbw < sizes[end].busbw * (1 - kNoise)) ++end;
    const CurveSize& from = sizes[i];
    const CurveSize& to = sizes[end];
    const bool counts = from.busbw >= kWhereItCounts * curve.peak;
    if (counts && to.busbw < from.busbw * (1 - kFall)) {
      const auto is_back = [&](const CurveSize& size) {
        return size.bytes > to.bytes && size.busbw >= kNearWhatWasLost * from.busbw;
      };
      const bool recovers = std::ranges::any_of(sizes, is_back);
      curve.falls.push_back(
          {from.bytes, to.bytes, from.busbw, to.busbw, recovers, sizes[i + 1].where});
      curve.is_falling |= !recovers && end + 1 == sizes.size();
    }
    i = std::max(end, i + 1);
  }
}

void count_reversals(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr double kNoticeable = 0.05;
  int direction = 0;
  double turned_at = -1;  ///< The extreme since the last turn.
  for (const CurveSize& size : sizes) {
    if (turned_at < 0) {
      if (size.busbw >= kWhereItCounts * curve.peak) turned_at = size.busbw;
      continue;
    }
    const bool rises = size.busbw > turned_at * (1 + kNoticeable);
    const bool falls = size.busbw < turned_at * (1 - kNoticeable);
    const int now = rises ? 1 : falls ? -1 : 0;
    const bool goes_on = now == direction || (direction > 0 && size.busbw > turned_at) ||
                         (direction < 0 && size.busbw < turned_at);
    if (now != 0 && now != direction) {
      curve.reversals += direction != 0;
      direction = now;
      turned_at = size.busbw;
    } else if (goes_on) {
      turned_at = size.busbw;
    }
  }
}

void compare_ways(const std::vector<CurveSize>& sizes, Curve& curve) {
  constexpr size_t kTop = 3;
  std::vector<double> gains;
  for (size_t i = sizes.size(); i > 0 && gains.size() < kTop; --i) {
    const CurveSize& size = sizes[i - 1];
    if (size.out_of_place > 0 && size.in_place > 0) {
      gains.push_back(size.in_place / size.out_of_place - 1);
    }
  }
  if (!gains.empty()) curve.in_place_gain = middle_of(gains);
}

}  // namespace

Curve read_curve(const Measurement& measurement) {
  Curve curve;
  find_peak(measurement, curve);
  count_flaws(measurement, curve);
  std::map<int64_t, Repetitions> by_size;
  for (const MeasuredPoint& point : measurement.points) {
    if (point.bytes != 0) by_size[std::max<int64_t>(point.bytes, -1)].push_back(&point);
  }
  for (const auto& [bytes, points] : by_size) {
    curve.sizes.push_back(size_of(bytes, points));
    find_slow(bytes, points, curve);
  }
  const std::vector<CurveSize> sizes = known_sizes(curve);
  find_plateau(sizes, curve);
  find_latency(curve.sizes, curve);
  fit_large_sizes(sizes, curve);
  find_falls(sizes, curve);
  count_reversals(sizes, curve);
  compare_ways(sizes, curve);
  return curve;
}

CurveEnd read_end(const Measurement& measurement) {
  const Curve curve = read_curve(measurement);
  CurveEnd end;
  end.wrong = std::max<int64_t>(curve.wrong, 0);
  if (!(curve.peak > 0) || !std::isfinite(curve.peak)) return end;
  end.best = end.plateau = curve.peak;
  end.best_at = curve.peak_at;
  std::vector<const CurveSize*> sizes;
  for (const CurveSize& size : curve.sizes) {
    if (size.bytes > 0 && size.busbw > 0) sizes.push_back(&size);
  }
  end.one_size = sizes.size() <= 1;
  if (sizes.empty()) return end;
  for (const CurveSize& size : curve.sizes) {
    if (size.bytes > 0 && end.first_at < 0) end.first_at = size.bytes;
  }
  end.last_at = sizes.back()->bytes;
  end.last = sizes.back()->busbw;
  end.climbing = curve.is_climbing;
  end.in_place_gain = curve.in_place_gain;
  constexpr double kMostBeyond = 1.25;  // A few rows do not carry further than that.
  if (end.climbing && curve.asymptote > 0) {
    end.plateau = std::clamp(curve.asymptote, end.best, kMostBeyond * end.best);
  }
  constexpr int64_t kSmall = 1 << 20;  // Below, latency decides.
  end.falls = end.best_at >= kSmall && end.last < end.best / 2;
  end.dips = !end.falls && end.best_at >= kSmall && end.last < 0.9 * end.best;
  return end;
}

double reachable_at(const Curve& curve, double ceiling, int64_t bytes) {
  if (curve.start_us <= 0 || curve.factor <= 0 || ceiling <= 0 || bytes <= 0) return ceiling;
  const double moved = curve.factor * static_cast<double>(bytes) / 1e3;
  return moved / (curve.start_us + moved / ceiling);
}

}  // namespace ncclog
