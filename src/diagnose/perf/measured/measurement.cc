#include "diagnose/perf/measured/measurement.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ncclog {
namespace {

/// By how much factors of the operation grow towards many ranks; 0: not at all.
double limit_of_factor(Operation op) {
  constexpr int kMany = 1 << 30;
  const double limit = bus_factor(op, kMany);
  return bus_factor(op, 2) < limit * 0.75 ? std::round(limit) : 0;
}

/// The ranks for which the operation's factor is between the two.
RankRange ranks_by_factor(double limit, double least, double most) {
  // factor = limit * (n - 1) / n; n = limit / (limit - factor).
  constexpr double kSlack = 1e-7;
  constexpr double kMost = RankRange::kMost;
  RankRange range;
  if (least >= limit) return {.least = 1, .most = 0};
  if (least > 0) {
    const double ranks = limit / (limit - least * (1 - kSlack));
    range.least = static_cast<int>(std::clamp(std::ceil(ranks), 1.0, kMost));
  }
  if (most * (1 + kSlack) < limit) {
    const double ranks = limit / (limit - std::max(most, 0.0) * (1 + kSlack));
    range.most = static_cast<int>(std::clamp(std::floor(ranks), 0.0, kMost));
  }
  return range;
}

}  // namespace

RankRange& RankRange::operator&=(const RankRange& other) {
  least = std::max(least, other.least);
  most = std::min(most, other.most);
  return *this;
}

int likeliest_in(const RankRange& range) {
  if (range.is_empty() || !range.is_bounded()) return -1;
  const int middle = range.least + (range.most - range.least) / 2;
  for (const int whole : {8, 4, 2}) {
    const int below = middle / whole * whole;
    const int above = below + whole;
    const int nearest = middle - below <= above - middle ? below : above;
    for (const int candidate : {nearest, below, above}) {
      if (range.holds(candidate) && candidate > 0) return candidate;
    }
  }
  return middle;
}

double rounding_of(std::string_view printed) {
  const size_t exponent_at = std::min(printed.find_first_of("eE"), printed.size());
  const std::string_view digits = printed.substr(0, exponent_at);
  const size_t point = digits.find('.');
  const auto decimals = point == digits.npos ? 0 : static_cast<int>(digits.size() - point - 1);
  std::string_view power = printed.substr(std::min(exponent_at + 1, printed.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  const auto exponent = parse_int(power).value_or(0);
  return 0.5 *
         std::pow(10.0, static_cast<double>(std::clamp<int64_t>(exponent, -300, 300)) - decimals);
}

RankRange ranks_by_row(Operation op, int64_t bytes, std::string_view time, std::string_view busbw) {
  const double limit = limit_of_factor(op);
  const auto microseconds = parse_decimal(time);
  const auto gigabytes = parse_decimal(busbw);
  if (limit == 0 || bytes <= 0 || !microseconds || !gigabytes || *microseconds <= 0) return {};
  const double unsure_time = rounding_of(time);
  const double unsure_busbw = rounding_of(busbw);
  if (unsure_time >= *microseconds) return {};
  // busbw = factor * bytes / time
  const double size = static_cast<double>(bytes) / 1e3;
  return ranks_by_factor(limit, (*gigabytes - unsure_busbw) * (*microseconds - unsure_time) / size,
                         (*gigabytes + unsure_busbw) * (*microseconds + unsure_time) / size);
}

RankRange ranks_by_ratio(Operation op, double algbw, double busbw, double rounding) {
  const double limit = limit_of_factor(op);
  if (limit == 0 || busbw < 0 || algbw <= rounding) return {};
  return ranks_by_factor(limit, (busbw - rounding) / (algbw + rounding),
                         (busbw + rounding) / (algbw - rounding));
}

void set_ranks_by_rows(const RankRange& range, Measurement& measurement) {
  measurement.nranks = likeliest_in(range);
  measurement.nranks_by_ratio = measurement.nranks > 0;
  if (!measurement.nranks_by_ratio) return;
  measurement.nranks_least = range.least;
  measurement.nranks_most = range.most;
}

}  // namespace ncclog
