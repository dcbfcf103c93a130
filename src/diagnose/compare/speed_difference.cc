#include "diagnose/compare/speed_difference.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/compare/run_difference.h"
#include "diagnose/perf/measured/curve.h"
#include "diagnose/perf/measured/measurement.h"
#include "log/event.h"

namespace ncclog {
namespace {

constexpr double kBeyondNoise = 1.25;      ///< Of bandwidths at one large size.
constexpr double kSteadyBeyond = 1.15;     ///< At all of the largest sizes.
constexpr double kSmallSizesBeyond = 1.5;  ///< Times of small sizes vary more.

using CurveBySize = std::map<int64_t, SpeedSide>;

/// What a job measured of an operation with so many ranks: of several runs the best at each size,
/// as people quote it.
using CurvesOfJob = std::map<std::pair<std::string, int>, CurveBySize>;

CurvesOfJob curves_of(const Job& job) {
  CurvesOfJob curves;
  for (const Measurement& measurement : measurements(job)) {
    const bool is_known = measurement.op != Operation::Unknown;
    if (!is_known && measurement.name.empty()) continue;
    const std::string op(is_known ? name_of(measurement.op) : measurement.name);
    CurveBySize& curve = curves[{op, measurement.nranks}];
    for (const MeasuredPoint& size : read_curve(measurement).sizes) {
      if (size.busbw() <= 0 && size.time_us() <= 0) continue;
      SpeedSide side{size.busbw(),
                     size.time_us(),
                     measurement.nranks,
                     measurement.nhosts,
                     {size.where, size.text}};
      const auto [known, is_new] = curve.try_emplace(size.bytes, side);
      if (!is_new && side.busbw > known->second.busbw) known->second = std::move(side);
    }
  }
  return curves;
}

/// By how much the bad run is slower; below 1: it is faster. 0: nothing tells.
double slowdown(const SpeedSide& good, const SpeedSide& bad) {
  if (good.busbw > 0 && bad.busbw > 0) return good.busbw / bad.busbw;
  const bool same_ranks = good.nranks == bad.nranks;
  return same_ranks && good.time_us > 0 && bad.time_us > 0 ? bad.time_us / good.time_us : 0;
}

/// True if in `sizes` the same run is slower everywhere, by at least that much.
bool are_steady(std::span<const SpeedDifference> sizes, double least) {
  return std::ranges::all_of(sizes, [&](const SpeedDifference& each) {
    return each.bad_is_slower == sizes.back().bad_is_slower && each.ratio >= least;
  });
}

/// The difference at the largest size that both have; where they are alike there, the largest one
/// that three sizes beside each other show.
std::optional<SpeedDifference> compare_curves(const std::string& op, const CurveBySize& good,
                                              const CurveBySize& bad) {
  std::vector<SpeedDifference> common;
  for (const auto& [bytes, side] : good) {
    const auto other = bad.find(bytes);
    const double factor = other == bad.end() ? 0 : slowdown(side, other->second);
    if (factor <= 0) continue;
    common.push_back(
        {op, bytes, side, other->second, std::max(factor, 1 / factor), factor > 1, {}});
  }
  if (common.empty()) return std::nullopt;
  if (common.back().ratio >= kBeyondNoise) return common.back();
  constexpr size_t kLargestSizes = 4;
  const std::span all(common);
  if (all.size() >= kLargestSizes && are_steady(all.last(kLargestSizes), kSteadyBeyond))
    return all.back();
  constexpr size_t kBeside = 3;
  const SpeedDifference* largest = nullptr;
  for (size_t n = kBeside; n <= all.size(); ++n) {
    if (!are_steady(all.subspan(n - kBeside, kBeside), kSmallSizesBeyond)) continue;
    if (largest == nullptr || all[n - 1].ratio > largest->ratio) largest = &all[n - 1];
  }
  return largest == nullptr ? std::nullopt : std::optional(*largest);
}

// Causes.

/// A line of speed_causes.table.
struct SpeedCauseRow {
  std::string_view cause;       ///< A topic, and how the name begins.
  std::string_view slower;      ///< "has X", "lacks X", "less", "order", "any".
  std::string_view where;       ///< "hosts", "host", "any".
  std::string_view likelihood;  ///< "likely", "possible".
  double most;                  ///< By how much it may slow down.
  std::string_view why;
};

constexpr SpeedCauseRow kSpeedCauses[] = {
#include "diagnose/compare/speed_causes.inc"
};

/// The first number of a value; of a list of devices, how many there are. nullopt: there is none.
std::optional<double> amount_of(const DifferenceRow& row, std::string_view value) {
  if (row.topic == Topic::Interface) {
    return value.empty() ? std::nullopt
                         : std::optional(static_cast<double>(split(value, ' ').size()));
  }
  size_t begin = value.find_first_of("0123456789");
  if (begin == value.npos) return std::nullopt;
  const size_t end = value.find_first_not_of("0123456789.", begin);
  return parse_decimal(value.substr(begin, end - begin));
}

/// Whether the slower run shows what the row is about; by how much it may slow down at most, 0 if it
/// does not.
double may_slow_by(const SpeedCauseRow& cause, const DifferenceRow& row, std::string_view slower,
                   std::string_view faster) {
  const auto has = [&](std::string_view value, size_t skip) {
    return value.find(cause.slower.substr(skip)) != value.npos;
  };
  constexpr std::string_view kHas = "has ";
  constexpr std::string_view kLacks = "lacks ";
  if (cause.slower.starts_with(kHas)) {
    return has(slower, kHas.size()) && slower != faster ? cause.most : 0;
  }
  if (cause.slower.starts_with(kLacks)) {
    return has(faster, kLacks.size()) && !has(slower, kLacks.size()) && !slower.empty() ? cause.most
                                                                                        : 0;
  }
  if (cause.slower == "order") {
    const auto order_of = [](std::string_view value) {
      return value.substr(std::min(value.find(';'), value.size()));
    };
    return order_of(slower) == order_of(faster) ? 0 : cause.most;
  }
  if (cause.slower != "less") return cause.most;
  const auto less = amount_of(row, slower);
  const auto more = amount_of(row, faster);
  if (!less || !more || *less >= *more) return 0;
  // Half the channels are not always half the bandwidth, and seldom less.
  return std::min(cause.most, 1.3 * *more / std::max(*less, 1.0));
}

std::optional<SpeedCause> cause_in(const DifferenceRow& row, size_t place,
                                   const SpeedDifference& speed, int nhosts) {
  const std::string subject = fmt::format("{} {}", to_string(row.topic), row.name);
  const std::string& slower = speed.bad_is_slower ? row.bad.what : row.good.what;
  const std::string& faster = speed.bad_is_slower ? row.good.what : row.bad.what;
  for (const SpeedCauseRow& cause : kSpeedCauses) {
    if (!subject.starts_with(cause.cause)) continue;
    const bool is_elsewhere =
        (cause.where == "hosts" && nhosts == 1) || (cause.where == "host" && nhosts > 1);
    const double most = is_elsewhere ? 0 : may_slow_by(cause, row, slower, faster);
    if (most <= 0) continue;
    constexpr double kRoughly = 1.15;  // Of figures that people reported.
    const SpeedLikelihood likelihood = speed.ratio > kRoughly * most  ? SpeedLikelihood::Partly
                                       : cause.likelihood == "likely" ? SpeedLikelihood::Likely
                                                                      : SpeedLikelihood::Possible;
    return SpeedCause{place, likelihood, cause.why};
  }
  return std::nullopt;
}

// Steps of a training.

constexpr size_t kFewest = 10;
constexpr double kLongest = 24 * 3600;  ///< Seconds; what is longer is another run's beginning.

bool is_number_char(char c) { return is_digit(c) || c == '.'; }

/// The number in front of `unit`: 2.88 of "1:23:01,  2.88s/it]"; -1: none.
double number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.rfind(unit);
  if (end == line.npos) return -1;
  size_t begin = end;
  while (begin > 0 && is_number_char(line[begin - 1])) --begin;
  return parse_decimal(line.substr(begin, end - begin)).value_or(-1);
}

/// What frameworks print in front of the time of a step, in seconds or, where it says so, in ms.
constexpr std::string_view kTimeWords[] = {
    "elapsed time per iteration (ms):", "elapsed time per iteration (s):", "iter time (s):",
    "train_step_timing in s:",          "train_step_timing in s=",         "global_step_time:"};

struct TimedStep {
  double seconds = 0;
  const Evidence* line = nullptr;
};

/// By what lines print, or else by the clocks in front of them.
std::vector<TimedStep> timed_steps(std::span<const StepLine> lines) {
  std::vector<TimedStep> printed;
  std::vector<TimedStep> stamped;
  int64_t last = -1;
  int64_t stamp_step = -1;
  LineTime stamp;
  for (const StepLine& each : lines) {
    if (each.step <= last) continue;
    last = each.step;
    const double seconds = printed_step_time(each.line.text);
    if (seconds > 0 && seconds < kLongest) printed.push_back({seconds, &each.line});
    const LineTime time = time_of_line(each.line.text);
    if (!time.known()) continue;
    if (stamp_step >= 0) {
      const double passed = static_cast<double>(time.nanoseconds - stamp.nanoseconds) / 1e9 /
                            static_cast<double>(each.step - stamp_step);
      if (passed > 0 && passed < kLongest) stamped.push_back({passed, &each.line});
    }
    stamp = time;
    stamp_step = each.step;
  }
  return printed.size() >= kFewest ? printed : stamped;
}

}  // namespace

std::optional<SpeedDifference> speed_difference(const Job& good, const Job& bad) {
  const CurvesOfJob good_curves = curves_of(good);
  const CurvesOfJob bad_curves = curves_of(bad);
  std::optional<SpeedDifference> largest;
  const auto consider = [&](const std::string& op, const CurveBySize& a, const CurveBySize& b) {
    auto found = compare_curves(op, a, b);
    if (found && (!largest || found->ratio > largest->ratio)) largest = std::move(found);
  };
  std::set<std::string> compared;
  for (const auto& [key, curve] : good_curves) {
    const auto other = bad_curves.find(key);
    if (other == bad_curves.end()) continue;
    compared.insert(key.first);
    consider(key.first, curve, other->second);
  }
  // Bus bandwidth is meant to be the same for any number of ranks; that they differ is then one of
  // the causes.
  for (const auto& [key, curve] : good_curves) {
    if (compared.contains(key.first)) continue;
    for (const auto& [other_key, other] : bad_curves) {
      if (other_key.first == key.first) consider(key.first, curve, other);
    }
  }
  return largest;
}

std::vector<SpeedCause> speed_causes(const SpeedDifference& speed,
                                     const std::vector<DifferenceRow>& rows, int nhosts) {
  nhosts = std::max({nhosts, speed.good.nhosts, speed.bad.nhosts});
  std::vector<SpeedCause> causes;
  for (size_t n = 0; n < rows.size(); ++n) {
    const DifferenceRow& row = rows[n];
    // A setting of the slower run alone, where the other one's logs do not tell of it.
    const bool may_differ = row.state == RowState::NotComparable && row.topic == Topic::Setting &&
                            (speed.bad_is_slower ? row.bad : row.good).why.empty();
    if (row.state != RowState::Differs && !may_differ) continue;
    auto cause = cause_in(row, n, speed, nhosts);
    if (!cause) continue;
    if (may_differ) cause->likelihood = std::max(cause->likelihood, SpeedLikelihood::Possible);
    causes.push_back(*cause);
  }
  // A setting of which nothing follows that the logs show is less than what they show.
  std::set<size_t> shown;
  for (const SpeedCause& cause : causes) {
    shown.insert(rows[cause.row].causes.begin(), rows[cause.row].causes.end());
  }
  std::ranges::stable_sort(causes, {}, [&](const SpeedCause& cause) {
    const bool is_shown = rows[cause.row].topic != Topic::Setting || shown.contains(cause.row);
    return std::pair(cause.likelihood, !is_shown);
  });
  return causes;
}

double printed_step_time(std::string_view line) {
  for (const std::string_view word : kTimeWords) {
    const size_t at = line.find(word);
    if (at == line.npos) continue;
    const std::string_view text = trim(line.substr(at + word.size()));
    const auto end = std::ranges::find_if_not(text, is_number_char);
    const auto number = text.substr(0, static_cast<size_t>(end - text.begin()));
    const double value = parse_decimal(number).value_or(-1);
    if (value > 0) return word.ends_with("(ms):") ? value * 1e-3 : value;
  }
  const double seconds = number_before(line, "s/it");
  if (seconds > 0) return seconds;
  const double rate = number_before(line, "it/s");
  return rate > 0 ? 1 / rate : -1;
}

std::optional<StepTimes> step_times(std::span<const StepLine> lines) {
  std::vector<TimedStep> steps = timed_steps(lines);
  // Warming up: compilation, caches, the first connections.
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>((steps.size() + 9) / 10));
  if (steps.size() < kFewest) return std::nullopt;
  std::ranges::stable_sort(steps, {}, &TimedStep::seconds);
  const TimedStep& middle = steps[steps.size() / 2];
  return StepTimes{steps.size(), middle.seconds, steps[steps.size() / 10].seconds,
                   steps[steps.size() - 1 - steps.size() / 10].seconds, *middle.line};
}

std::optional<SpeedDifference> step_difference(const StepTimes& good, const StepTimes& bad) {
  constexpr double kNoticeable = 1.05;
  const bool bad_is_slower = bad.median > good.median;
  const StepTimes& slower = bad_is_slower ? bad : good;
  const StepTimes& faster = bad_is_slower ? good : bad;
  const double ratio = slower.median / faster.median;
  if (ratio < kNoticeable || slower.low <= faster.high) return std::nullopt;
  const auto side = [](const StepTimes& times) {
    return SpeedSide{.time_us = times.median * 1e6, .line = times.line};
  };
  return SpeedDifference{.op = "a step of the training",
                         .good = side(good),
                         .bad = side(bad),
                         .ratio = ratio,
                         .bad_is_slower = bad_is_slower};
}

}  // namespace ncclog
