#include "diagnose/perf/late/late_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/sorting.h"
#include "base/text.h"
#include "diagnose/perf/late/call_lags.h"

namespace ncclog {
namespace {

/// Of so many calls, those at the beginning that are not judged: memory, kernels and connections
/// are made then.
size_t warm_up_of(size_t calls) { return std::max<size_t>(10, calls / 10); }

/// So unlikely may it be that an innocent is as often, or as far, late as somebody who is named:
/// there are many ranks, and many jobs.
constexpr double kLogOfChance = -16.1;  // 1e-7
constexpr double kSigmas = 4.5;

// Who is late often, or always, and not by chance?

/// Somebody who is late, and in which calls.
struct LateSuspect {
  size_t party = 0;
  std::vector<size_t> late;
  size_t made_good = 0;  ///< More such calls, that others make good.
};

/// Late are calls in which a party is behind by `least`, in microseconds. A call in which it is as
/// much ahead, shortly before or after, makes a late one good: then it left a call at another time
/// than the others, and nobody waited for it twice. `are_made_good`: those are not counted.
LateSuspect late_calls(size_t party, const CallSeries& behind, double least, bool are_made_good) {
  constexpr size_t kShortly = 8;
  std::vector<size_t> late;
  for (size_t c = warm_up_of(behind.size()); c < behind.size(); ++c) {
    if (behind[c] >= least) late.push_back(c);
  }
  std::vector<bool> is_made_good(behind.size(), false);
  const auto distance = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
  for (size_t c = 0; c < behind.size() && are_made_good; ++c) {
    if (behind[c] > -least / 2) continue;
    size_t nearest = behind.size();
    const auto first = std::ranges::lower_bound(late, c < kShortly ? 0 : c - kShortly);
    for (auto call = first; call != late.end() && *call <= c + kShortly; ++call) {
      if (is_made_good[*call] || behind[*call] + behind[c] >= least / 2) continue;
      if (nearest == behind.size() || distance(*call, c) < distance(nearest, c)) nearest = *call;
    }
    if (nearest < behind.size()) is_made_good[nearest] = true;
  }
  const size_t made_good = std::erase_if(late, [&](size_t c) { return is_made_good[c]; });
  return {party, std::move(late), made_good};
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
double usual_count(const std::vector<size_t>& counts, const std::vector<RankParty>& parties,
                   size_t party) {
  std::vector<double> others;
  for (size_t p = 0; p < counts.size(); ++p) {
    if (p != party && is_host(parties[p]) == is_host(parties[party])) {
      others.push_back(static_cast<double>(counts[p]));
    }
  }
  const auto known = static_cast<double>(std::clamp<size_t>(others.size(), 1, 9));
  const double median = median_of(others);
  return median + 2 * std::sqrt(median / known) + 1;
}

/// True if it is late in most calls, and not by chance: of `behind`, all but a few of the lower half
/// are above what noise makes of others.
bool is_always_late(const CallSeries& behind, double least, double noise) {
  const size_t warm_up = warm_up_of(behind.size());
  CallSeries judged(behind.begin() + static_cast<std::ptrdiff_t>(warm_up), behind.end());
  std::ranges::sort(judged);
  if (quantile_of_sorted(judged, 0.5) < least) return false;
  const double lower = 0.5 - kSigmas / 2 / std::sqrt(static_cast<double>(judged.size()));
  return quantile_of_sorted(judged, lower) > noise;
}

/// By how much the usual lateness of parties of one kind differs, but for the odd ones: three
/// standard deviations, by the median absolute deviation.
double noise_of_medians(const std::vector<CallSeries>& behind,
                        const std::vector<RankParty>& parties, bool of_hosts) {
  std::vector<double> medians;
  for (size_t p = 0; p < parties.size(); ++p) {
    CallSeries values = behind[p];
    if (is_host(parties[p]) == of_hosts) medians.push_back(median_of(values));
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
  const bool is_regular =
      static_cast<double>(regular) >= kMost * static_cast<double>(late.size() - 1);
  return is_regular && 2 * most >= regular ? usual : 0;
}

/// `behind`: of all parties.
LateParty describe_party(const CallTimes& times, const CommonCalls& calls,
                         const LateSuspect& suspect, const std::vector<CallSeries>& behind,
                         bool inside_the_call) {
  const RankParty& party = calls.parties[suspect.party];
  const std::vector<size_t>& late = suspect.late;
  LateParty result;
  result.inside_the_call = inside_the_call;
  const RankTimes& first = *calls.ranks[party.front()];
  if (!is_host(party)) result.rank = first.rank;
  result.host = first.host;
  for (const size_t r : party) {
    result.ranks.push_back(calls.ranks[r]->rank);
    const auto place = static_cast<size_t>(calls.ranks[r] - times.ranks.data());
    if (place < times.evidence.size()) result.evidence.push_back(times.evidence[place]);
  }
  std::ranges::sort(result.ranks);
  result.share = static_cast<double>(late.size()) /
                 static_cast<double>(calls.size() - warm_up_of(calls.size()));
  CallSeries by;
  for (const size_t c : late) by.push_back(behind[suspect.party][c]);
  std::ranges::sort(by);
  result.median_us = quantile_of_sorted(by, 0.5);
  result.p99_us = quantile_of_sorted(by, 0.99);
  result.in_bursts = result.share < 0.5;
  if (result.in_bursts) result.period = period_of(late, calls.numbers);
  return result;
}

/// Those who are late by `least`, in enough calls, that are no start and not made good.
std::vector<LateSuspect> late_by(const std::vector<CallSeries>& behind,
                                 const std::vector<RankParty>& parties, double least,
                                 bool are_made_good) {
  std::vector<LateSuspect> suspects;
  std::vector<size_t> counts;
  for (size_t p = 0; p < parties.size(); ++p) {
    suspects.push_back(late_calls(p, behind[p], least, are_made_good));
    counts.push_back(suspects.back().late.size() + suspects.back().made_good);
  }
  const double noise[] = {noise_of_medians(behind, parties, false),
                          noise_of_medians(behind, parties, true)};
  std::vector<LateSuspect> result;
  for (size_t p = 0; p < parties.size(); ++p) {
    const std::vector<size_t>& own = suspects[p].late;
    const auto count = static_cast<double>(own.size());
    const size_t calls = behind[p].size();
    const auto judged = static_cast<double>(calls - warm_up_of(calls));
    // Where many are made good, what makes the others good may be calls that are not known.
    const bool are_enough = own.size() >= kLeastLateCalls && count >= kLeastShareOfCalls * judged &&
                            own.size() > 2 * suspects[p].made_good;
    if (!are_enough) continue;
    // What is late at the beginning alone is a start.
    const auto later = std::ranges::lower_bound(own, calls / 4);
    if (2 * (own.end() - later) < std::ssize(own)) continue;
    const bool is_often =
        log_of_poisson_tail(own.size(), usual_count(counts, parties, p)) < kLogOfChance;
    if (is_often || is_always_late(behind[p], least, noise[is_host(parties[p]) ? 1 : 0])) {
      result.push_back(std::move(suspects[p]));
    }
  }
  return result;
}

/// Those who are named. Where everybody is late now and then, somebody may still be late by more,
/// more often than the others.
std::vector<LateSuspect> late_parties(const std::vector<CallSeries>& behind,
                                      const std::vector<RankParty>& parties, double least,
                                      bool are_made_good) {
  constexpr int kDoublings = 5;
  std::vector<LateSuspect> result;
  if (behind.empty()) return result;
  for (int i = 0; i < kDoublings; ++i, least *= 2) {
    for (LateSuspect& suspect : late_by(behind, parties, least, are_made_good)) {
      const auto known = std::ranges::find(result, suspect.party, &LateSuspect::party);
      if (known == result.end()) result.push_back(std::move(suspect));
    }
  }
  std::ranges::sort(result, {}, &LateSuspect::party);
  return result;
}

/// True for a host of which one rank alone is late more often: the others' noise is not the host's.
bool is_by_a_rank(const LateSuspect& suspect, const std::vector<LateSuspect>& all,
                  const std::vector<RankParty>& parties) {
  constexpr double kAsOften = 0.9;
  const RankParty& host = parties[suspect.party];
  return is_host(host) && std::ranges::any_of(all, [&](const LateSuspect& other) {
           const RankParty& rank = parties[other.party];
           return !is_host(rank) && std::ranges::find(host, rank.front()) != host.end() &&
                  static_cast<double>(suspect.late.size()) <
                      kAsOften * static_cast<double>(other.late.size());
         });
}

// Is it its own work that makes it late?

/// What its lateness costs in a call, on average.
double mean_lateness(const LateSuspect& suspect, const CallSeries& behind) {
  double sum = 0;
  for (const size_t c : suspect.late) sum += behind[c];
  return sum / static_cast<double>(behind.size() - warm_up_of(behind.size()));
}

/// True if its ranks spend more time in calls of other communicators than the others do, by about
/// what they are late here.
bool waits_elsewhere(const CommonCalls& calls, const RankParty& party, double lateness) {
  std::vector<double> own;
  std::vector<double> others;
  for (size_t r = 0; r < calls.ranks.size(); ++r) {
    const bool is_own = std::ranges::find(party, r) != party.end();
    (is_own ? own : others).push_back(calls.ranks[r]->elsewhere_us);
  }
  return median_of(own) - median_of(others) >= lateness / 2;
}

/// True if the others go on before it has entered: they do not wait for it in the call, so it holds
/// nobody up as far as times of entry show. Beside a rank stand those of its host: clocks of hosts
/// are set so that nobody seems to run ahead.
bool is_overtaken(const CommonCalls& calls, const RankValues& entered, const RankParty& party,
                  const std::vector<size_t>& late) {
  constexpr double kMost = 0.2;
  const int host = calls.host_of[party.front()];
  const auto is_beside = [&](size_t r) { return calls.host_of[r] == host; };
  size_t known = 0;
  size_t overtaken = 0;
  for (const size_t c : late) {
    if (c + 1 == calls.size() || calls.numbers[c + 1] != calls.numbers[c] + 1) continue;
    ++known;
    std::vector<double> own;
    std::vector<double> others;
    for (size_t r = 0; r < calls.ranks.size(); ++r) {
      if (std::ranges::find(party, r) != party.end()) {
        own.push_back(entered[r][c]);
      } else if (is_host(party) || is_beside(r)) {
        others.push_back(entered[r][c + 1]);
      }
    }
    if (median_of(others) < median_of(own)) ++overtaken;
  }
  return known == 0 || static_cast<double>(overtaken) > kMost * static_cast<double>(known);
}

/// True if the late calls of a host follow each other in few rows: a clock that was set meanwhile
/// looks like that.
bool may_be_a_set_clock(const RankParty& party, const std::vector<size_t>& late) {
  constexpr int kLeastRows = 5;
  int rows = 1;
  for (size_t i = 1; i < late.size(); ++i) rows += late[i] > late[i - 1] + 1 ? 1 : 0;
  return is_host(party) && rows < kLeastRows;
}

// The whole.

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
                       plural(calls.size(), "call"), ranks_words(known, times.nranks), kLeastCalls);
  }
  if (times.has_unknown_waits) {
    return "the ranks also wait in calls of other communicators, and for how long is unknown";
  }
  return {};
}

/// Why nobody is named although all was judged that there is, and whether that clears everybody.
std::string nobody_words(const CallTimes& times, double late, LateVerdict& verdict) {
  std::string judged = fmt::format(
      "nobody with times is late by {:.1f} ms, which is a fifth of the median call and 5 ms at "
      "least, more often than the others",
      late / 1000);
  if (const int lacking = times.nranks - verdict.ranks_with_times; lacking > 0) {
    return fmt::format("{}, but {} of {} ranks {} no times and may be", judged, lacking,
                       times.nranks, lacking == 1 ? "has" : "have");
  }
  if (!verdict.by_durations) {
    return judged +
           ", but only times of entry are known, and a host that is always late cannot be told "
           "from a clock that is wrong: durations tell "
           "(TORCH_NCCL_ENABLE_TIMING=1, or the NCCL Inspector)";
  }
  verdict.is_judged = true;
  return judged;
}

std::vector<LateVerdict> derive_lateness(const Job& job) {
  std::vector<LateVerdict> verdicts;
  // Whoever belongs to another run is late for nobody.
  if (job.runs > 1) return verdicts;
  for (const CallTimes& times : call_times(job)) verdicts.push_back(judge_lateness(times));
  return verdicts;
}

std::string party_name(const LateParty& party) {
  const std::string host = printable(to_valid_utf8(party.host));
  if (party.rank < 0) {
    std::vector<std::string> ranks;
    for (const int rank : party.ranks) ranks.push_back(std::to_string(rank));
    return fmt::format("all ranks of host {} ({})", host, few_of(ranks, kMostNamed, ", "));
  }
  return host.empty() ? fmt::format("rank {}", party.rank)
                      : fmt::format("rank {} ({})", party.rank, host);
}

/// "1000 calls of the 8 ranks of communicator 0x7f8c…".
std::string calls_words(const LateVerdict& verdict) {
  const bool is_id = verdict.communicator.starts_with("0x");
  return fmt::format("{} calls of the {} of {} {}", verdict.calls,
                     plural(std::max(verdict.nranks, verdict.ranks_with_times), "rank"),
                     is_id ? "communicator" : "process group",
                     printable(to_valid_utf8(verdict.communicator)));
}

/// "92 % of 1000 calls of …", "each 10th call (10 % of 1000 calls of …)".
std::string share_words(const LateVerdict& verdict, const LateParty& party) {
  std::string share = fmt::format("{:.0f} % of {}", 100 * party.share, calls_words(verdict));
  if (!party.in_bursts) return share;
  if (party.period == 0) return share + ", now and then,";
  return fmt::format("one call in {} ({})", party.period, share);
}

// Facts about who is late, from the verdicts on each communicator (late_ranks.h).
//
//   job.late_rank      yes, "rank 5 (node-b) enters 92 % of 1,000 calls of … late, by 21 ms …"
//   job.late_by_entry  the same where only times of entry are known: no more than a hint

/// What the figures are held against, and what they rest on.
std::string measure_words(const LateVerdict& verdict) {
  std::string words =
      verdict.by_durations
          ? fmt::format("the median call takes {}", late_time_text(verdict.median_call_us))
          : fmt::format("calls come every {}", late_time_text(verdict.median_call_us));
  if (verdict.clock_error_us > 0) {
    words +=
        fmt::format(", clocks of hosts are known to {}", late_time_text(verdict.clock_error_us));
  }
  if (verdict.ranks_with_times < verdict.nranks) {
    words += fmt::format(", {} of {} ranks have no times",
                         verdict.nranks - verdict.ranks_with_times, verdict.nranks);
  }
  return fmt::format("{} ({})", words, verdict.source);
}

/// The verdicts' parties for which `is_meant` holds, in words, those that cost most first.
template <typename IsMeant>
FactValue late_answer(const Job& job, IsMeant is_meant) {
  constexpr size_t kMostLines = 8;
  const std::vector<LateVerdict>& verdicts = late_verdicts(job);
  if (verdicts.empty()) return unknown("no times of calls of two ranks are in the logs");
  std::vector<std::string> words;
  std::vector<Evidence> evidence;
  std::set<int> ranks;
  std::set<std::string> hosts;
  FactValue answer = no();
  for (const LateVerdict& verdict : verdicts) {
    std::vector<std::string> parties;
    for (const LateParty& party : verdict.late) {
      if (!is_meant(verdict, party)) continue;
      parties.push_back(late_words(verdict, party));
      if (party.rank >= 0) ranks.insert(party.rank);
      if (!party.host.empty()) hosts.insert(party.host);
      for (const Evidence& line : party.evidence) {
        if (evidence.size() < kMostLines) evidence.push_back(line);
      }
    }
    if (parties.empty()) continue;
    words.push_back(few_of(parties, kMostNamed, "; ") + "; " + measure_words(verdict));
    answer.communicator = verdict.communicator;
  }
  if (words.empty()) {
    const bool any = std::ranges::any_of(verdicts, &LateVerdict::is_judged);
    return any ? answer : unknown(verdicts.front().why_nobody);
  }
  FactValue found = yes(few_of(words, kMostNamed, ". "), std::move(evidence));
  if (words.size() == 1) found.communicator = answer.communicator;
  for (const int rank : ranks) {
    const int process = process_of_rank(job, rank);
    if (process >= 0) {
      found.processes.push_back(process);
    } else {
      found.ranks.push_back(rank);
    }
  }
  std::ranges::sort(found.processes);
  found.hosts.assign(hosts.begin(), hosts.end());
  return found;
}

FactValue late_rank(const Job& job, const Instance&) {
  return late_answer(job, [](const LateVerdict& verdict, const LateParty& party) {
    return verdict.by_durations && !party.inside_the_call;
  });
}

FactValue late_inside(const Job& job, const Instance&) {
  return late_answer(
      job, [](const LateVerdict&, const LateParty& party) { return party.inside_the_call; });
}

FactValue late_by_entry(const Job& job, const Instance&) {
  return late_answer(
      job, [](const LateVerdict& verdict, const LateParty&) { return !verdict.by_durations; });
}

constexpr std::array kLateFacts = {
    // Somebody enters collectives late by times of entry alone: it may have left the call before
    // late, and hosts may run ahead of their GPUs.
    job_fact("job.late_by_entry", late_by_entry),
    // Somebody leaves collectives later than the others, which it entered with them.
    job_fact("job.late_inside", late_inside),
    // Somebody enters collectives late, by durations: the others wait in them.
    job_fact("job.late_rank", late_rank),
};

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

  const std::vector<RankParty>& parties = calls.parties;
  const double least = std::max(kLeastLateUs, kLeastShareOfCall * verdict.median_call_us);
  const CallLags lags = measure_lags(calls, least, times.resolution_us);
  verdict.clock_error_us = lags.error;
  const std::vector<LateSuspect> entering = late_parties(lags.entering, parties, least, true);
  for (const LateSuspect& suspect : entering) {
    const RankParty& party = parties[suspect.party];
    if (is_by_a_rank(suspect, entering, parties)) continue;
    const double mean = mean_lateness(suspect, lags.entering[suspect.party]);
    if (waits_elsewhere(calls, party, mean)) {
      verdict.why_nobody =
          "who is late here waits as long in calls of other communicators, so others are the cause";
    } else if (!verdict.by_durations && may_be_a_set_clock(party, suspect.late)) {
      verdict.why_nobody =
          "a host is late in calls that follow each other, and its clock may have been set then";
    } else if (!verdict.by_durations && is_overtaken(calls, lags.entered, party, suspect.late)) {
      verdict.why_nobody =
          "hosts run ahead of their GPUs: the others make their next calls before the last one has "
          "entered, so times of entry do not show that anybody waits";
    } else {
      verdict.late.push_back(describe_party(times, calls, suspect, lags.entering, false));
    }
  }
  // Who leaves late enters the next call late, so that nothing is made good.
  const std::vector<LateSuspect> leaving = late_parties(lags.leaving, parties, least, false);
  for (const LateSuspect& suspect : leaving) {
    if (is_by_a_rank(suspect, leaving, parties)) continue;
    verdict.late.push_back(describe_party(times, calls, suspect, lags.leaving, true));
  }
  std::ranges::stable_sort(verdict.late, std::ranges::greater{},
                           [](const LateParty& party) { return party.share * party.median_us; });
  verdict.is_judged = !verdict.late.empty();
  if (verdict.is_judged) {
    verdict.why_nobody.clear();
  } else if (verdict.why_nobody.empty()) {
    verdict.why_nobody = nobody_words(times, least, verdict);
  }
  return verdict;
}

std::string late_time_text(double us) {
  if (us >= 1e6) return fmt::format("{:.1f} s", us / 1e6);
  return us < 10'000 ? fmt::format("{:.1f} ms", us / 1000) : fmt::format("{:.0f} ms", us / 1000);
}

std::string late_words(const LateVerdict& verdict, const LateParty& party) {
  const std::string by = fmt::format("{} (median; {} in the worst 1 %)",
                                     late_time_text(party.median_us), late_time_text(party.p99_us));
  const std::string share = share_words(verdict, party);
  if (party.inside_the_call) {
    return fmt::format("{} enters {} with the others and leaves {} later", party_name(party), share,
                       by);
  }
  return fmt::format("{} enters {} late, by {}", party_name(party), share, by);
}

const std::vector<LateVerdict>& late_verdicts(const Job& job) {
  return job.answers.of<&derive_lateness>(job);
}

std::span<const Fact> late_facts() { return kLateFacts; }

}  // namespace ncclog
