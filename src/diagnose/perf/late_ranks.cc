#include "diagnose/perf/late_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/text.h"
#include "diagnose/perf/clock_offsets.h"

namespace ncclog {
namespace {

/// Values by rank, then by call.
using Values = std::vector<std::vector<double>>;

/// Of one after the other.
using Series = std::vector<double>;

/// More are not looked at, of the oldest: 8 MiB for each of a few such tables.
constexpr size_t kMostCells = size_t{1} << 20;

/// Calls at the beginning that are not judged: memory, kernels and connections are made then.
constexpr size_t kLeastWarmUp = 10;
constexpr size_t kWarmUpPart = 10;

/// So unlikely may it be that an innocent is as often, or as far, late as somebody who is named:
/// there are many ranks, and many jobs.
constexpr double kLogOfChance = -16.1;  // 1e-7
constexpr double kSigmas = 4.5;

/// What is judged: the calls that all ranks with times made.
struct CommonCalls {
  std::vector<int64_t> numbers;
  std::vector<const RankTimes*> ranks;
  Values durations;  ///< Empty: not told.
  Values entered;    ///< Empty: not told.
  std::vector<int> host_of;  ///< By rank: who shares its clock.
  std::vector<std::vector<size_t>> hosts;

  size_t size() const { return numbers.size(); }
};

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

Values values_of(const std::vector<std::vector<TimedCall>>& calls,
                 const std::vector<int64_t>& numbers, double TimedCall::*value) {
  Values values(calls.size());
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
    calls.hosts[static_cast<size_t>(index)].push_back(r);
    calls.host_of.push_back(index);
  }
}

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

// Who came how far behind the others?

/// A rank, or a host with several.
struct Party {
  bool is_host = false;
  std::vector<size_t> ranks;
};

std::vector<Party> parties_of(const CommonCalls& calls) {
  std::vector<Party> parties;
  for (size_t r = 0; r < calls.ranks.size(); ++r) parties.push_back({false, {r}});
  if (calls.hosts.size() < 2) return parties;
  for (const std::vector<size_t>& host : calls.hosts) {
    if (host.size() > 1) parties.push_back({true, host});
  }
  return parties;
}

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
std::vector<Series> how_far_behind(const CommonCalls& calls, const Values& times,
                                   const std::vector<Party>& parties) {
  constexpr double kMostOfHost = 0.25;  // All but a quarter of its ranks.
  std::vector<Series> result(parties.size(), Series(calls.size()));
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
      const size_t first = parties[p].ranks.front();
      const auto h = static_cast<size_t>(calls.host_of[first]);
      if (parties[p].is_host) {
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

// Who is late often, or always, and not by chance?

struct Threshold {
  double late = 0;     ///< By so much, in microseconds.
  size_t warm_up = 0;  ///< Calls that are not judged.
  bool are_made_good = true;  ///< Calls, by others in which a party is ahead.
};

/// The calls in which a party is late.
struct LateCalls {
  std::vector<size_t> calls;
  size_t made_good = 0;  ///< More of them, that others make good.
};

/// A call in which a party is as much ahead, shortly before or after, makes a late one good: then it
/// left a call at another time than the others, and nobody waited for it twice.
LateCalls late_calls(const Series& behind, const Threshold& threshold) {
  constexpr size_t kShortly = 8;
  std::vector<size_t> late;
  for (size_t c = threshold.warm_up; c < behind.size(); ++c) {
    if (behind[c] >= threshold.late) late.push_back(c);
  }
  std::vector<bool> is_made_good(behind.size(), false);
  const auto distance = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
  for (size_t c = 0; c < behind.size() && threshold.are_made_good; ++c) {
    if (behind[c] > -threshold.late / 2) continue;
    size_t nearest = behind.size();
    const auto first = std::ranges::lower_bound(late, c < kShortly ? 0 : c - kShortly);
    for (auto call = first; call != late.end() && *call <= c + kShortly; ++call) {
      if (is_made_good[*call] || behind[*call] + behind[c] >= threshold.late / 2) continue;
      if (nearest == behind.size() || distance(*call, c) < distance(nearest, c)) nearest = *call;
    }
    if (nearest < behind.size()) is_made_good[nearest] = true;
  }
  const size_t made_good = std::erase_if(late, [&](size_t c) { return is_made_good[c]; });
  return {std::move(late), made_good};
}

/// The logarithm of the probability of `count` or more of what comes `expected` times on average.
double log_of_poisson_tail(size_t count, double expected) {
  const auto k = static_cast<double>(count);
  if (k <= expected) return 0;
  // The first term, and a geometric bound of those behind it.
  const double first = k * std::log(expected) - expected - std::lgamma(k + 1);
  return first - std::log1p(-expected / (k + 1));
}

/// How often a party is late if it is as the others are, not to underrate it.
double usual_count(const std::vector<size_t>& counts, const std::vector<Party>& parties,
                   size_t party) {
  std::vector<double> others;
  for (size_t p = 0; p < counts.size(); ++p) {
    if (p != party && parties[p].is_host == parties[party].is_host) {
      others.push_back(static_cast<double>(counts[p]));
    }
  }
  const auto known = static_cast<double>(std::clamp<size_t>(others.size(), 1, 9));
  const double median = median_of(others);
  return median + 2 * std::sqrt(median / known) + 1;
}

/// True if it is late in most calls, and not by chance: of `behind`, all but a few of the lower half
/// are above what noise makes of others.
bool is_always_late(const Series& behind, const Threshold& threshold, double noise) {
  Series judged(behind.begin() + static_cast<std::ptrdiff_t>(threshold.warm_up), behind.end());
  std::ranges::sort(judged);
  if (quantile_of_sorted(judged, 0.5) < threshold.late) return false;
  const double lower = 0.5 - kSigmas / 2 / std::sqrt(static_cast<double>(judged.size()));
  return quantile_of_sorted(judged, lower) > noise;
}

/// By how much the usual lateness of parties of one kind differs, but for the odd ones: three
/// standard deviations, by the median absolute deviation.
double noise_of_medians(const std::vector<Series>& behind, const std::vector<Party>& parties,
                        bool of_hosts) {
  std::vector<double> medians;
  for (size_t p = 0; p < parties.size(); ++p) {
    Series values = behind[p];
    if (parties[p].is_host == of_hosts) medians.push_back(median_of(values));
  }
  // Of two or three, each is odd beside the others.
  if (medians.size() < 4) return 0;
  const double middle = median_of(medians);
  for (double& value : medians) value = std::fabs(value - middle);
  return 3 * 1.4826 * median_of(medians);
}

/// The distance at which most late calls come; 0: there is none.
int64_t period_of(const std::vector<size_t>& late, const std::vector<int64_t>& numbers) {
  constexpr double kMost = 0.8;
  std::map<int64_t, size_t> distances;
  for (size_t i = 1; i < late.size(); ++i) ++distances[numbers[late[i]] - numbers[late[i - 1]]];
  int64_t usual = 0;
  size_t most = 0;
  for (const auto& [distance, count] : distances) {
    if (std::exchange(most, std::max(most, count)) < count) usual = distance;
  }
  if (usual < 2) return 0;
  size_t regular = 0;
  for (const auto& [distance, count] : distances) {
    if (distance % usual == 0) regular += count;
  }
  const bool is_regular = static_cast<double>(regular) >= kMost * static_cast<double>(late.size() - 1);
  return is_regular && 2 * most >= regular ? usual : 0;
}

LateParty describe(const CommonCalls& calls, const Party& party, const Series& behind,
                   const std::vector<size_t>& late, size_t warm_up) {
  LateParty result;
  const RankTimes& first = *calls.ranks[party.ranks.front()];
  if (!party.is_host) result.rank = first.rank;
  result.host = first.host;
  result.share = static_cast<double>(late.size()) / static_cast<double>(calls.size() - warm_up);
  Series by;
  for (const size_t c : late) by.push_back(behind[c]);
  std::ranges::sort(by);
  result.median_us = quantile_of_sorted(by, 0.5);
  result.p99_us = quantile_of_sorted(by, 0.99);
  result.how = result.share >= 0.5 ? Lateness::Steady : Lateness::Bursts;
  if (result.how == Lateness::Bursts) result.period = period_of(late, calls.numbers);
  return result;
}

/// Somebody who is late, and in which calls.
struct Suspect {
  size_t party = 0;
  std::vector<size_t> late;
};

/// Those who are late by `threshold`, in enough calls, that are no start and not made good.
std::vector<Suspect> late_by(const std::vector<Series>& behind, const std::vector<Party>& parties,
                             const Threshold& threshold) {
  std::vector<LateCalls> late;
  std::vector<size_t> counts;
  for (const Series& series : behind) {
    late.push_back(late_calls(series, threshold));
    counts.push_back(late.back().calls.size() + late.back().made_good);
  }
  const double noise[] = {noise_of_medians(behind, parties, false),
                          noise_of_medians(behind, parties, true)};
  std::vector<Suspect> result;
  for (size_t p = 0; p < parties.size(); ++p) {
    std::vector<size_t>& own = late[p].calls;
    const auto count = static_cast<double>(own.size());
    const size_t calls = behind[p].size();
    const auto judged = static_cast<double>(calls - threshold.warm_up);
    // Where many are made good, what makes the others good may be calls that are not known.
    const bool are_enough = own.size() >= kLeastLateCalls && count >= kLeastShareOfCalls * judged &&
                            own.size() > 2 * late[p].made_good;
    if (!are_enough) continue;
    // What is late at the beginning alone is a start.
    const auto later = std::ranges::lower_bound(own, calls / 4);
    if (2 * (own.end() - later) < std::ssize(own)) continue;
    const bool is_often =
        log_of_poisson_tail(own.size(), usual_count(counts, parties, p)) < kLogOfChance;
    if (is_often || is_always_late(behind[p], threshold, noise[parties[p].is_host ? 1 : 0])) {
      result.push_back({p, std::move(own)});
    }
  }
  return result;
}

/// Those who are named. Where everybody is late now and then, somebody may still be late by more,
/// more often than the others.
std::vector<Suspect> late_parties(const std::vector<Series>& behind,
                                  const std::vector<Party>& parties, Threshold threshold) {
  constexpr int kDoublings = 5;
  std::vector<Suspect> result;
  if (behind.empty()) return result;
  for (int i = 0; i < kDoublings; ++i) {
    for (Suspect& suspect : late_by(behind, parties, threshold)) {
      const auto known = std::ranges::find(result, suspect.party, &Suspect::party);
      if (known == result.end()) result.push_back(std::move(suspect));
    }
    threshold.late *= 2;
  }
  std::ranges::sort(result, {}, &Suspect::party);
  return result;
}

/// True for a host of which one rank alone is late more often: the others' noise is not the host's.
bool is_by_a_rank(const Suspect& suspect, const std::vector<Suspect>& all,
                  const std::vector<Party>& parties) {
  constexpr double kAsOften = 0.9;
  const Party& host = parties[suspect.party];
  return host.is_host && std::ranges::any_of(all, [&](const Suspect& other) {
    const Party& rank = parties[other.party];
    return !rank.is_host && std::ranges::find(host.ranks, rank.ranks.front()) != host.ranks.end() &&
           static_cast<double>(suspect.late.size()) <
               kAsOften * static_cast<double>(other.late.size());
  });
}

// Is it its own work that makes it late?

/// What its lateness costs in a call, on average.
double mean_lateness(const Suspect& suspect, const Series& behind, size_t warm_up) {
  double sum = 0;
  for (const size_t c : suspect.late) sum += behind[c];
  return sum / static_cast<double>(behind.size() - warm_up);
}

/// True if its ranks spend more time in calls of other communicators than the others do, by about
/// what they are late here.
bool waits_elsewhere(const CommonCalls& calls, const Party& party, double lateness) {
  std::vector<double> own;
  std::vector<double> others;
  for (size_t r = 0; r < calls.ranks.size(); ++r) {
    const bool is_own = std::ranges::find(party.ranks, r) != party.ranks.end();
    (is_own ? own : others).push_back(calls.ranks[r]->elsewhere_us);
  }
  return median_of(own) - median_of(others) >= lateness / 2;
}

/// True if the others go on before it has entered: they do not wait for it in the call, so it holds
/// nobody up as far as times of entry show. Beside a rank stand those of its host: clocks of hosts
/// are set so that nobody seems to run ahead.
bool is_overtaken(const CommonCalls& calls, const Values& entered, const Party& party,
                  const std::vector<size_t>& late) {
  constexpr double kMost = 0.2;
  const int host = calls.host_of[party.ranks.front()];
  const auto is_beside = [&](size_t r) { return calls.host_of[r] == host; };
  size_t known = 0;
  size_t overtaken = 0;
  for (const size_t c : late) {
    if (c + 1 == calls.size() || calls.numbers[c + 1] != calls.numbers[c] + 1) continue;
    ++known;
    std::vector<double> own;
    std::vector<double> others;
    for (size_t r = 0; r < calls.ranks.size(); ++r) {
      if (std::ranges::find(party.ranks, r) != party.ranks.end()) {
        own.push_back(entered[r][c]);
      } else if (party.is_host || is_beside(r)) {
        others.push_back(entered[r][c + 1]);
      }
    }
    if (median_of(others) < median_of(own)) ++overtaken;
  }
  return known == 0 || static_cast<double>(overtaken) > kMost * static_cast<double>(known);
}

// The whole.

/// The middle of what calls take: their durations, or, where none are told, from one to the next.
double median_call(const CommonCalls& calls) {
  std::vector<double> values;
  for (const Series& series : calls.durations) {
    values.insert(values.end(), series.begin(), series.end());
  }
  if (!values.empty()) return median_of(values);
  for (const Series& series : calls.entered) {
    for (size_t c = 1; c < series.size(); ++c) {
      if (calls.numbers[c] == calls.numbers[c - 1] + 1) values.push_back(series[c] - series[c - 1]);
    }
  }
  return median_of(values);
}

/// By rank and call: `times` by the first host's clock. `seen` is what all hosts see at one time.
Values by_one_clock(const CommonCalls& calls, Values times, const ClockOffsets& clocks) {
  for (size_t r = 0; r < times.size(); ++r) {
    const Series& ahead = clocks.ahead[static_cast<size_t>(calls.host_of[r])];
    for (size_t c = 0; c < times[r].size(); ++c) times[r][c] -= ahead[c];
  }
  return times;
}

ClockOffsets clocks_by(const CommonCalls& calls, const Values& times) {
  Values seen;
  for (const std::vector<size_t>& host : calls.hosts) {
    Series& middle = seen.emplace_back();
    for (size_t c = 0; c < calls.size(); ++c) {
      std::vector<double> own;
      for (const size_t r : host) own.push_back(times[r][c]);
      middle.push_back(median_of(own));
    }
  }
  return estimate_clock_offsets(seen);
}

Values sum_of(const Values& a, const Values& b, double factor) {
  Values sum = a;
  for (size_t r = 0; r < a.size(); ++r) {
    for (size_t c = 0; c < a[r].size(); ++c) sum[r][c] += factor * b[r][c];
  }
  return sum;
}

/// The less of both, call by call; of `b` the error is taken off.
void limit(std::vector<Series>& a, const std::vector<Series>& b, double error) {
  for (size_t p = 0; p < a.size(); ++p) {
    for (size_t c = 0; c < a[p].size(); ++c) a[p][c] = std::min(a[p][c], b[p][c] - error);
  }
}

/// How far parties are behind when they enter, and, if that can be told, when they leave.
struct Lags {
  std::vector<Series> entering;
  std::vector<Series> leaving;  ///< Of those that entered with the others; empty: not known.
  Values entered;               ///< By one clock; empty: no times of entry.
  double error = 0;
};

/// Clocks that are set by times of entry hide who is always late: of a host's only rank all but
/// bursts, and even those may be calls that others made ahead; of two ranks, which one is odd.
void leave_out_what_clocks_hide(const CommonCalls& calls, const std::vector<Party>& parties,
                                std::vector<Series>& behind) {
  for (size_t p = 0; p < parties.size(); ++p) {
    const auto host = static_cast<size_t>(calls.host_of[parties[p].ranks.front()]);
    const size_t size = calls.hosts[host].size();
    if (parties[p].is_host || size > 2) continue;
    Series values = behind[p];
    const double usual = std::max(0.0, median_of(values));
    for (double& value : behind[p]) value = size == 1 ? std::min(value, 0.0) : value - usual;
  }
}

Lags measure_lags(const CommonCalls& calls, const std::vector<Party>& parties, double late,
                  double resolution) {
  Lags lags;
  const bool has_durations = !calls.durations.empty();
  const Values none(calls.ranks.size(), Series(calls.size()));
  if (has_durations) {
    lags.entering = how_far_behind(calls, sum_of(none, calls.durations, -1), parties);
  }
  if (calls.entered.empty()) return lags;
  // All leave at nearly the same time, so that shows what clocks differ by; else entering must.
  const Values left = has_durations ? sum_of(calls.entered, calls.durations, 1) : calls.entered;
  const ClockOffsets clocks = clocks_by(calls, left);
  lags.error = clocks.error + resolution;
  lags.entered = by_one_clock(calls, calls.entered, clocks);
  const std::vector<Series> entering = how_far_behind(calls, lags.entered, parties);
  if (!has_durations) {
    lags.entering = entering;
    limit(lags.entering, entering, lags.error);
    if (calls.hosts.size() > 1) leave_out_what_clocks_hide(calls, parties, lags.entering);
    return lags;
  }
  limit(lags.entering, entering, lags.error);
  lags.leaving = how_far_behind(calls, by_one_clock(calls, left, clocks), parties);
  limit(lags.leaving, how_far_behind(calls, calls.durations, parties), 0);
  for (size_t p = 0; p < parties.size(); ++p) {
    for (size_t c = 0; c < calls.size(); ++c) {
      double& leaving = lags.leaving[p][c];
      leaving = entering[p][c] >= late / 2 ? std::min(leaving, 0.0) : leaving - lags.error;
    }
  }
  return lags;
}

std::string ranks_words(int with_times, int nranks) {
  if (nranks > with_times) return fmt::format("{} of {} ranks", with_times, nranks);
  return plural(with_times, "rank");
}

/// Why calls cannot be judged; empty: they can.
std::string what_is_missing(const CallTimes& times, const CommonCalls& calls) {
  const auto known = static_cast<int>(calls.ranks.size());
  if (known < 2 || 2 * known < times.nranks) {
    return fmt::format("there are times of {} only", ranks_words(known, times.nranks));
  }
  if (calls.size() < kLeastCalls) {
    return fmt::format("{} were made by {} with times, and {} are needed",
                       plural(static_cast<int64_t>(calls.size()), "call"),
                       ranks_words(known, times.nranks), kLeastCalls);
  }
  if (times.has_unknown_waits) {
    return "the ranks also wait in calls of other communicators, and for how long is unknown";
  }
  return {};
}

std::string nobody_words(const CommonCalls& calls, bool by_durations, double late) {
  std::string words =
      fmt::format("nobody is late by {:.1f} ms, which is a fifth of the median call and 5 ms at "
                  "least, more often than the others",
                  late / 1000);
  if (!by_durations && calls.hosts.size() > 1) {
    words +=
        "; a host that is always late cannot be told from a clock that is wrong where only times of "
        "entry are known";
  }
  return words;
}

}  // namespace

LateVerdict judge_lateness(const CallTimes& times) {
  LateVerdict verdict;
  verdict.source = times.source;
  verdict.communicator = times.communicator;
  verdict.nranks = times.nranks;
  verdict.evidence = times.evidence;
  const CommonCalls calls = common_calls(times);
  verdict.ranks_with_times = static_cast<int>(calls.ranks.size());
  verdict.by_durations = !calls.durations.empty();
  verdict.calls = static_cast<int64_t>(calls.size());
  verdict.why_nobody = what_is_missing(times, calls);
  if (calls.size() > 0) verdict.median_call_us = median_call(calls);
  if (!verdict.why_nobody.empty()) return verdict;

  const std::vector<Party> parties = parties_of(calls);
  Threshold threshold;
  threshold.late = std::max(kLeastLateUs, kLeastShareOfCall * verdict.median_call_us);
  threshold.warm_up = std::max(kLeastWarmUp, calls.size() / kWarmUpPart);
  const Lags lags = measure_lags(calls, parties, threshold.late, times.resolution_us);
  verdict.clock_error_us = lags.error;
  const auto name = [&](const Suspect& suspect, const std::vector<Series>& behind, bool inside) {
    LateParty party = describe(calls, parties[suspect.party], behind[suspect.party], suspect.late,
                               threshold.warm_up);
    party.inside_the_call = inside;
    verdict.late.push_back(std::move(party));
  };
  const std::vector<Suspect> entering = late_parties(lags.entering, parties, threshold);
  for (const Suspect& suspect : entering) {
    const Party& party = parties[suspect.party];
    if (is_by_a_rank(suspect, entering, parties)) continue;
    const double mean = mean_lateness(suspect, lags.entering[suspect.party], threshold.warm_up);
    if (waits_elsewhere(calls, party, mean)) {
      verdict.why_nobody =
          "who is late here waits as long in calls of other communicators, so others are the cause";
    } else if (!verdict.by_durations && is_overtaken(calls, lags.entered, party, suspect.late)) {
      verdict.why_nobody =
          "hosts run ahead of their GPUs: the others make their next calls before the last one has "
          "entered, so times of entry do not show that anybody waits";
    } else {
      name(suspect, lags.entering, false);
    }
  }
  threshold.are_made_good = false;  // Who leaves late enters the next call late.
  const std::vector<Suspect> leaving = late_parties(lags.leaving, parties, threshold);
  for (const Suspect& suspect : leaving) {
    if (!is_by_a_rank(suspect, leaving, parties)) name(suspect, lags.leaving, true);
  }
  std::ranges::stable_sort(verdict.late, std::ranges::greater{}, [](const LateParty& party) {
    return party.share * party.median_us;
  });
  if (!verdict.late.empty()) verdict.why_nobody.clear();
  if (verdict.late.empty() && verdict.why_nobody.empty()) {
    verdict.why_nobody = nobody_words(calls, verdict.by_durations, threshold.late);
  }
  return verdict;
}

}  // namespace ncclog
