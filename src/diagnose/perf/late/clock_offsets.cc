#include "diagnose/perf/late/clock_offsets.h"

#include <algorithm>
#include <cmath>

#include "base/sorting.h"

namespace ncclog {
namespace {

/// Calls in a stretch that has a median of its own, at least, and stretches at most.
constexpr size_t kLeastCallsOfStretch = 32;
constexpr size_t kMostStretches = 32;

/// A median absolute deviation of a normal distribution, as its standard deviation.
constexpr double kSigmaOfMad = 1.4826;
/// Of a median, as a multiple of that of a mean.
constexpr double kSigmaOfMedian = 1.2533;

/// What one stretch of calls shows of a clock.
struct Stretch {
  double at = 0;  ///< Its middle, by the first host's clock.
  double ahead = 0;
};

/// The offset at a time, between the stretches around it, or on the line of the nearest two.
double ahead_at(const std::vector<Stretch>& stretches, double at) {
  if (stretches.size() == 1) return stretches.front().ahead;
  const auto behind = std::ranges::lower_bound(stretches, at, {}, &Stretch::at);
  const auto last = std::prev(stretches.end());
  const auto right = std::clamp(behind, std::next(stretches.begin()), last);
  const auto left = std::prev(right);
  if (right->at <= left->at) return left->ahead;
  return left->ahead + (right->ahead - left->ahead) * (at - left->at) / (right->at - left->at);
}

}  // namespace

ClockOffsets estimate_clock_offsets(const std::vector<std::vector<double>>& seen) {
  ClockOffsets result;
  if (seen.empty()) return result;
  const std::vector<double>& reference = seen.front();
  const size_t calls = reference.size();
  const size_t count = std::clamp<size_t>(calls / kLeastCallsOfStretch, 1, kMostStretches);
  result.ahead.assign(seen.size(), std::vector<double>(calls, 0.0));
  for (size_t host = 1; host < seen.size(); ++host) {
    std::vector<Stretch> stretches;
    std::vector<double> errors;
    for (size_t s = 0; s < count; ++s) {
      const size_t begin = calls * s / count;
      const size_t end = calls * (s + 1) / count;
      std::vector<double> ahead;
      std::vector<double> at(reference.begin() + static_cast<std::ptrdiff_t>(begin),
                             reference.begin() + static_cast<std::ptrdiff_t>(end));
      for (size_t c = begin; c < end; ++c) ahead.push_back(seen[host][c] - reference[c]);
      const double middle = median_of(ahead);
      stretches.push_back({median_of(at), middle});
      for (double& value : ahead) value = std::fabs(value - middle);
      const double sigma = kSigmaOfMad * median_of(ahead);
      const auto size = static_cast<double>(std::max<size_t>(end - begin, 1));
      errors.push_back(2 * kSigmaOfMedian * sigma / std::sqrt(size));
    }
    // Calls that are out of order, by a clock that jumped, would make no line.
    std::ranges::stable_sort(stretches, {}, &Stretch::at);
    for (size_t c = 0; c < calls; ++c) result.ahead[host][c] = ahead_at(stretches, reference[c]);
    result.error = std::max(result.error, median_of(errors));
  }
  return result;
}

}  // namespace ncclog
