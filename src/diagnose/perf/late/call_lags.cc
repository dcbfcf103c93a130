#include "diagnose/perf/late/call_lags.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/sorting.h"

namespace ncclog {
namespace {

/// More are not looked at, of the oldest: 8 MiB for each of a few such tables.
constexpr size_t kMostCells = size_t{1} << 20;

std::vector<TimedCall> usable_calls(const RankTimes& rank, bool by_durations) {
  std::vector<TimedCall> calls;
  for (const TimedCall& call : rank.calls) {
    const double time = by_durations ? call.duration : call.entered;
    if (std::isfinite(time) && (!by_durations || time >= 0)) calls.push_back(call);
  }
  std::ranges::stable_sort(calls, {}, &TimedCall::number);
  const auto same = std::ranges::unique(calls, {}, &TimedCall::number);
  calls.erase(same.begin(), same.end());
  return calls;
}

/// Ranks of which too few calls are known would leave hardly a call that all made.
std::vector<std::vector<TimedCall>> calls_of_ranks(const CallTimes& times, bool by_durations,
                                                   std::vector<const RankTimes*>& ranks) {
  std::vector<std::vector<TimedCall>> all;
  std::vector<double> sizes;
  for (const RankTimes& rank : times.ranks) {
    all.push_back(usable_calls(rank, by_durations));
    if (!all.back().empty()) sizes.push_back(static_cast<double>(all.back().size()));
  }
  const double usual = median_of(sizes);
  std::vector<std::vector<TimedCall>> kept;
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty() || static_cast<double>(all[r].size()) < usual / 2) continue;
    ranks.push_back(&times.ranks[r]);
    kept.push_back(std::move(all[r]));
  }
  return kept;
}

std::vector<int64_t> common_numbers(const std::vector<std::vector<TimedCall>>& calls) {
  std::vector<int64_t> common;
  for (const TimedCall& call : calls.front()) common.push_back(call.number);
  for (size_t r = 1; r < calls.size(); ++r) {
    auto call = calls[r].begin();
    std::erase_if(common, [&](int64_t number) {
      while (call != calls[r].end() && call->number < number) ++call;
      return call == calls[r].end() || call->number != number;
    });
  }
  const size_t most = kMostCells / calls.size();
  if (common.size() > most) {
    common.erase(common.begin(), common.end() - static_cast<std::ptrdiff_t>(most));
  }
  return common;
}

RankValues values_of(const std::vector<std::vector<TimedCall>>& calls,
                     const std::vector<int64_t>& numbers, double TimedCall::*value) {
  RankValues values(calls.size());
  for (size_t r = 0; r < calls.size(); ++r) {
    auto call = calls[r].begin();
    for (const int64_t number : numbers) {
      while (call->number < number) ++call;
      if (!std::isfinite(*call.*value)) return {};
      values[r].push_back(*call.*value);
    }
  }
  return values;
}

/// Ranks of an unknown host share a clock with nobody.
void group_by_host(CommonCalls& calls) {
  std::map<std::string, int> known;
  for (size_t r = 0; r < calls.ranks.size(); ++r) {
    const std::string& host = calls.ranks[r]->host;
    const int next = static_cast<int>(calls.hosts.size());
    const int index = host.empty() ? next : known.try_emplace(host, next).first->second;
    if (index == next) calls.hosts.emplace_back();
    calls.hosts[index].push_back(r);
    calls.host_of.push_back(index);
    calls.parties.push_back({r});
  }
  if (calls.hosts.size() < 2) return;
  for (const std::vector<size_t>& host : calls.hosts) {
    if (host.size() > 1) calls.parties.push_back(host);
  }
}

// Who came how far behind the others?

/// Of `sorted`, without one that is `value`: the median of the others, the upper one of two. Where
/// half of the others are as late, that accuses nobody.
double median_of_others(const std::vector<double>& sorted, double value) {
  const size_t others = sorted.size() - 1;
  if (others == 0) return value;
  const size_t middle = others / 2;
  return value <= sorted[middle] ? sorted[middle + 1] : sorted[middle];
}

/// A rank that is late is so beside the other ranks of its host too, else its host is late; and of a
/// host that is late, nearly all ranks are. `beside` decides, but noise in it costs little.
double joined_lateness(double behind, double beside) {
  constexpr double kSlack = 3;
  return std::min(behind, beside > 0 ? kSlack * beside : beside);
}

/// By party: how far it is behind the others in each call, by `times` of ranks and calls. Negative:
/// ahead of them.
std::vector<CallSeries> how_far_behind(const CommonCalls& calls, const RankValues& times) {
  const std::vector<RankParty>& parties = calls.parties;
  constexpr double kMostOfHost = 0.25;  // All but a quarter of its ranks.
  std::vector<CallSeries> result(parties.size(), CallSeries(calls.size()));
  const size_t nranks = calls.ranks.size();
  std::vector<double> all(nranks);
  std::vector<std::vector<double>> hosts(calls.hosts.size());
  std::vector<double> middles(calls.hosts.size());
  for (size_t c = 0; c < calls.size(); ++c) {
    for (size_t r = 0; r < nranks; ++r) all[r] = times[r][c];
    for (size_t h = 0; h < hosts.size(); ++h) {
      hosts[h].clear();
      for (const size_t r : calls.hosts[h]) hosts[h].push_back(all[r]);
      std::ranges::sort(hosts[h]);
      middles[h] = hosts[h][hosts[h].size() / 2];
    }
    std::vector<double> sorted_middles = middles;
    std::ranges::sort(sorted_middles);
    std::ranges::sort(all);
    for (size_t p = 0; p < parties.size(); ++p) {
      const size_t first = parties[p].front();
      const auto h = static_cast<size_t>(calls.host_of[first]);
      if (is_host(parties[p])) {
        // Of two middle ranks the others' later one counts, and the earlier one of the host itself.
        const double others = median_of_others(sorted_middles, middles[h]);
        const double middle = hosts[h][(hosts[h].size() - 1) / 2];
        const double most = quantile_of_sorted(hosts[h], kMostOfHost);
        result[p][c] = joined_lateness(middle - others, most - others);
        continue;
      }
      const double time = times[first][c];
      const double behind = time - median_of_others(all, time);
      const bool is_alone = hosts[h].size() == 1;
      const double beside = is_alone ? behind : time - median_of_others(hosts[h], time);
      result[p][c] = joined_lateness(behind, beside);
    }
  }
  return result;
}

/// By rank and call: `times` by the first host's clock. `offsets`: of the clocks.
RankValues by_one_clock(const CommonCalls& calls, RankValues times, const RankValues& offsets) {
  for (size_t r = 0; r < times.size(); ++r) {
    const CallSeries& ahead = offsets[calls.host_of[r]];
    for (size_t c = 0; c < times[r].size(); ++c) times[r][c] -= ahead[c];
  }
  return times;
}

/// By `times` that all ranks see at one moment.
RankValues offsets_by(const CommonCalls& calls, const RankValues& times, double& error) {
  RankValues seen;
  for (const std::vector<size_t>& host : calls.hosts) {
    CallSeries& middle = seen.emplace_back();
    for (size_t c = 0; c < calls.size(); ++c) {
      std::vector<double> own;
      for (const size_t r : host) own.push_back(times[r][c]);
      middle.push_back(median_of(own));
    }
  }
  return estimate_clock_offsets(seen, error);
}

RankValues sum_of(const RankValues& a, const RankValues& b, double factor) {
  RankValues sum = a;
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t c = 0; c < a[r].size(); ++c) sum[r][c] += factor * b[r][c];
  }
  return sum;
}

/// The less of both, call by call; of `b` the error is taken off.
void take_lower(std::vector<CallSeries>& a, const std::vector<CallSeries>& b, double error) {
  for (size_t p = 0; p < a.size(); ++p) {
    for (size_t c = 0; c < a[p].size(); ++c) a[p][c] = std::min(a[p][c], b[p][c] - error);
  }
}

/// Clocks that are set by times of entry hide who is always late: of a host's only rank all but
/// bursts, and even those may be calls that others made ahead; of two ranks, which one is odd.
void leave_out_what_clocks_hide(const CommonCalls& calls, std::vector<CallSeries>& behind) {
  for (size_t p = 0; p < behind.size(); ++p) {
    const auto host = static_cast<size_t>(calls.host_of[calls.parties[p].front()]);
    const size_t size = calls.hosts[host].size();
    if (is_host(calls.parties[p]) || size > 2) continue;
    CallSeries values = behind[p];
    const double usual = std::max(0.0, median_of(values));
    for (double& value : behind[p]) value = size == 1 ? std::min(value, 0.0) : value - usual;
  }
}

// By how much do clocks differ?

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

CommonCalls common_calls(const CallTimes& times) {
  for (const bool by_durations : {true, false}) {
    CommonCalls result;
    const auto calls = calls_of_ranks(times, by_durations, result.ranks);
    if (calls.empty()) continue;
    result.numbers = common_numbers(calls);
    if (by_durations) result.durations = values_of(calls, result.numbers, &TimedCall::duration);
    result.entered = values_of(calls, result.numbers, &TimedCall::entered);
    if (by_durations && result.size() < kLeastCalls && times.ranks.size() > result.ranks.size()) {
      continue;
    }
    group_by_host(result);
    return result;
  }
  return {};
}

double median_call(const CommonCalls& calls) {
  std::vector<double> values;
  for (const CallSeries& series : calls.durations) {
    values.insert(values.end(), series.begin(), series.end());
  }
  if (!values.empty()) return median_of(values);
  for (const CallSeries& series : calls.entered) {
    for (size_t c = 1; c < series.size(); ++c) {
      if (calls.numbers[c] == calls.numbers[c - 1] + 1) values.push_back(series[c] - series[c - 1]);
    }
  }
  return median_of(values);
}

CallLags measure_lags(const CommonCalls& calls, double late, double resolution) {
  CallLags lags;
  const bool has_durations = !calls.durations.empty();
  const RankValues none(calls.ranks.size(), CallSeries(calls.size()));
  if (has_durations) lags.entering = how_far_behind(calls, sum_of(none, calls.durations, -1));
  if (calls.entered.empty()) return lags;
  // All leave at nearly the same time, so that shows what clocks differ by; else entering must.
  const RankValues left = has_durations ? sum_of(calls.entered, calls.durations, 1) : calls.entered;
  const RankValues offsets = offsets_by(calls, left, lags.error);
  lags.error += resolution;
  lags.entered = by_one_clock(calls, calls.entered, offsets);
  const std::vector<CallSeries> entering = how_far_behind(calls, lags.entered);
  if (!has_durations) {
    lags.entering = entering;
    take_lower(lags.entering, entering, lags.error);
    if (calls.hosts.size() > 1) leave_out_what_clocks_hide(calls, lags.entering);
    return lags;
  }
  take_lower(lags.entering, entering, lags.error);
  lags.leaving = how_far_behind(calls, by_one_clock(calls, left, offsets));
  take_lower(lags.leaving, how_far_behind(calls, calls.durations), 0);
  for (size_t p = 0; p < entering.size(); ++p) {
    for (size_t c = 0; c < calls.size(); ++c) {
      double& leaving = lags.leaving[p][c];
      leaving = entering[p][c] >= late / 2 ? std::min(leaving, 0.0) : leaving - lags.error;
    }
  }
  return lags;
}

RankValues estimate_clock_offsets(const RankValues& seen, double& error) {
  error = 0;
  if (seen.empty()) return {};
  const std::vector<double>& reference = seen.front();
  const size_t calls = reference.size();
  const size_t count = std::clamp<size_t>(calls / kLeastCallsOfStretch, 1, kMostStretches);
  RankValues offsets(seen.size(), std::vector<double>(calls, 0.0));
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
    for (size_t c = 0; c < calls; ++c) offsets[host][c] = ahead_at(stretches, reference[c]);
    error = std::max(error, median_of(errors));
  }
  return offsets;
}

}  // namespace ncclog
