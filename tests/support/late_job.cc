#include "support/late_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace ncclog {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// The same numbers with every standard library.
class Dice {
 public:
  explicit Dice(uint64_t seed) : bits_(seed * 0x9e3779b97f4a7c15U + 17) {}

  double unit() { return static_cast<double>(bits_() >> 11) * 0x1.0p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  /// With equal chances for each order of magnitude.
  double scaled(double low, double high) { return low * std::pow(high / low, unit()); }
  int below(int end) { return static_cast<int>(unit() * end); }
  bool chance(double p) { return unit() < p; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - unit())) * std::cos(2 * 3.14159265358979 * unit());
  }
  /// At least 1, and now and then much more.
  double heavy() { return std::min(std::pow(1 - unit(), -1 / 1.5), 100.0); }

 private:
  std::mt19937_64 bits_;
};

/// What is told of calls.
enum class Told { Durations, Both, Entries };

/// How the job is made.
struct Setting {
  int hosts = 1;
  int per_host = 1;
  int calls = 100;
  Told told = Told::Durations;
  PlantedLateness planted = PlantedLateness::None;
  double compute = 0;  ///< Microseconds, as all below.
  double transfer = 0;
  double jitter = 0;
  double stall_chance = 0;
  double stall = 0;
  double leaving = 0;         ///< By how much ranks leave apart from each other.
  double missing = 0;         ///< Chance that a rank's record of a call lacks.
  std::vector<double> sizes;  ///< Transfers of an iteration's calls, as factors.
  double late = 0;
  int period = 1;
  double chance = 0;  ///< Of bursts without a period; 0: they have one.
  int rank = 0;       ///< Whom it hits.
  int second = -1;

  int nranks() const { return hosts * per_host; }
  int host_of(int one) const { return one / per_host; }
};

Setting make_setting(Dice& dice) {
  Setting s;
  s.hosts = 1 + dice.below(8);
  s.per_host = 1 << dice.below(4);
  if (s.nranks() < 2) s.hosts = 2;
  s.calls = static_cast<int>(dice.scaled(105, 1200));
  if (s.nranks() > 24) s.calls = std::min(s.calls, 400);
  s.told = static_cast<Told>(dice.below(3));
  s.planted = static_cast<PlantedLateness>(dice.below(kPlantedKinds));
  s.compute = dice.scaled(1000, 200'000);
  s.transfer = dice.scaled(300, 100'000);
  s.jitter = s.compute * dice.between(0, 0.05);
  s.stall_chance = dice.chance(0.5) ? 0 : dice.scaled(0.0005, 0.02);
  s.stall = dice.scaled(1000, 100'000);
  s.leaving = s.transfer * dice.between(0, 0.05);
  s.missing = dice.chance(0.5) ? 0 : dice.between(0, 0.4) / s.nranks();
  const int pattern = 1 + dice.below(6);
  for (int i = 0; i < pattern; ++i) s.sizes.push_back(dice.scaled(0.2, 2));
  const double wait = s.transfer + s.jitter * 1.5;
  s.late = std::max(5000.0, wait / 4) * dice.scaled(0.4, 12);
  s.period = 2 + dice.below(19);
  if (dice.chance(0.3)) s.chance = dice.between(0.05, 0.4);
  s.rank = dice.below(s.nranks());
  s.second = (s.rank + 1 + dice.below(s.nranks() - 1)) % s.nranks();
  if (s.planted == PlantedLateness::ManyStalls) s.stall_chance = dice.between(0.02, 0.15);
  if (s.planted == PlantedLateness::SlowNetwork) s.transfer *= dice.between(2, 10);
  return s;
}

/// In which calls what is planted strikes.
bool strikes(const Setting& s, int call, Dice& dice) {
  switch (s.planted) {
    case PlantedLateness::RankInBursts:
    case PlantedLateness::HostInBursts:
    case PlantedLateness::RankInside:
      return s.chance > 0 ? dice.chance(s.chance) : call % s.period == s.period / 2;
    case PlantedLateness::SlowLink:
    case PlantedLateness::SlowNetwork:
      return s.chance > 0 ? call % s.period == 0 : true;
    case PlantedLateness::RankFromHalf:
      return call >= s.calls / 2;
    case PlantedLateness::FirstCalls:
      return call < std::min(10, s.calls / 10);
    default:
      return true;
  }
}

bool is_hit(const Setting& s, int rank) {
  switch (s.planted) {
    case PlantedLateness::Rank:
    case PlantedLateness::RankInBursts:
    case PlantedLateness::RankFromHalf:
    case PlantedLateness::FirstCalls:
      return rank == s.rank;
    case PlantedLateness::TwoRanks:
      return rank == s.rank || rank == s.second;
    case PlantedLateness::Host:
    case PlantedLateness::HostInBursts:
      return s.host_of(rank) == s.host_of(s.rank);
    default:
      return false;
  }
}

/// True times of all calls: by rank, then call.
struct TrueTimes {
  std::vector<std::vector<double>> entered;
  std::vector<std::vector<double>> left;
  std::vector<bool> struck;
};

TrueTimes simulate(const Setting& s, Dice& dice) {
  const auto nranks = static_cast<size_t>(s.nranks());
  TrueTimes times;
  times.entered.assign(nranks, {});
  times.left.assign(nranks, {});
  std::vector<double> ready(nranks, 0);
  for (int call = 0; call < s.calls; ++call) {
    const bool struck = strikes(s, call, dice);
    times.struck.push_back(struck);
    double last = 0;
    std::vector<double> enters(nranks);
    for (int rank = 0; rank < s.nranks(); ++rank) {
      double compute = s.compute + s.jitter * std::fabs(dice.normal());
      if (dice.chance(s.stall_chance)) compute += s.stall * dice.heavy();
      if (struck && is_hit(s, rank)) {
        compute += s.planted == PlantedLateness::FirstCalls ? 20 * s.late : s.late;
      }
      // Kernels and connections are made, by some longer than by others.
      if (call < 3) compute += dice.between(0, 300'000);
      if (s.planted == PlantedLateness::FastRank && rank == s.rank && s.nranks() > 2)
        compute *= 0.3;
      const auto r = static_cast<size_t>(rank);
      enters[r] = ready[r] + compute;
      last = std::max(last, enters[r]);
    }
    double transfer = s.transfer * s.sizes[static_cast<size_t>(call) % s.sizes.size()];
    if (s.planted == PlantedLateness::SlowNetwork && struck && s.chance > 0) transfer *= 5;
    for (int rank = 0; rank < s.nranks(); ++rank) {
      const auto r = static_cast<size_t>(rank);
      double leaves = last + transfer + s.leaving * dice.unit();
      const bool is_inside = s.planted == PlantedLateness::RankInside && rank == s.rank;
      const bool is_linked =
          s.planted == PlantedLateness::SlowLink && s.host_of(rank) == s.host_of(s.rank);
      if (struck && (is_inside || is_linked)) leaves += s.late;
      times.entered[r].push_back(enters[r]);
      times.left[r].push_back(leaves);
      ready[r] = leaves;
    }
  }
  return times;
}

/// Hosts that run ahead enqueue calls at their own pace; the one that waits for its GPU is behind.
TrueTimes simulate_running_ahead(const Setting& s, Dice& dice) {
  TrueTimes times = simulate(s, dice);
  for (int rank = 0; rank < s.nranks(); ++rank) {
    if (rank == s.rank) continue;
    std::vector<double>& entered = times.entered[static_cast<size_t>(rank)];
    const size_t ahead = 3;
    for (size_t c = entered.size(); c-- > ahead;) {
      entered[c] = entered[c - ahead] + s.jitter * dice.unit();
    }
  }
  return times;
}

/// What each host's clock makes of the true time.
struct HostClock {
  double offset = 0;
  double drift = 0;
  double set_at = std::numeric_limits<double>::infinity();  ///< When somebody sets it.
  double set_by = 0;

  double at(double time) const {
    return time + offset + drift * time + (time >= set_at ? set_by : 0);
  }
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Of the calls that all made.
void note_truth(const Setting& s, const TrueTimes& times, const std::set<int64_t>& lacking,
                LateJob& job) {
  std::vector<double> values;
  for (int call = 0; call < s.calls; ++call) {
    if (lacking.contains(call)) continue;
    const auto c = static_cast<size_t>(call);
    const bool is_judged = call >= std::max(10, s.calls / 10);
    if (times.struck[c] && is_judged) ++job.late_calls;
    for (size_t r = 0; r < times.entered.size(); ++r) {
      if (s.told != Told::Entries) {
        values.push_back(times.left[r][c] - times.entered[r][c]);
      } else if (call > 0 && !lacking.contains(call - 1)) {
        values.push_back(times.entered[r][c] - times.entered[r][c - 1]);
      }
    }
  }
  job.median_call_us = median(std::move(values));
}

void note_guilty(const Setting& s, LateJob& job) {
  for (int rank = 0; rank < s.nranks(); ++rank) {
    if (is_hit(s, rank) && s.planted != PlantedLateness::FirstCalls) job.guilty.push_back(rank);
  }
  if (s.planted == PlantedLateness::RankInside) job.guilty.push_back(s.rank);
  const bool is_host =
      s.planted == PlantedLateness::Host || s.planted == PlantedLateness::HostInBursts;
  const bool are_all = s.planted == PlantedLateness::TwoRanks && s.per_host == 2 &&
                       s.host_of(s.rank) == s.host_of(s.second);
  // Who leaves late enters late, so times of entry show it; durations alone show nothing.
  const bool is_link = s.planted == PlantedLateness::SlowLink && s.told != Told::Durations;
  if (is_link) {
    for (int rank = 0; rank < s.nranks(); ++rank) {
      if (s.host_of(rank) == s.host_of(s.rank)) job.guilty.push_back(rank);
    }
  }
  if (is_host || are_all || is_link) job.guilty_host = fmt::format("node{}", s.host_of(s.rank));
}

/// Whether these times can show it at all.
bool shows(const Setting& s) {
  const bool is_alone = s.per_host == 1;
  switch (s.planted) {
    case PlantedLateness::Rank:
    case PlantedLateness::RankFromHalf:
      return s.told != Told::Entries || s.hosts == 1 || s.per_host > 2;
    case PlantedLateness::TwoRanks:
      // Of two or three, two late ones are as well the others being early.
      return s.nranks() > 3 && s.per_host > 2 && s.told != Told::Entries;
    case PlantedLateness::Host:
      return s.hosts > 1 && s.told != Told::Entries;
    case PlantedLateness::HostInBursts:
      return s.hosts > 1 && (s.told != Told::Entries || !is_alone);
    case PlantedLateness::RankInBursts:
      return s.told != Told::Entries || s.hosts == 1 || !is_alone;
    case PlantedLateness::RankInside:
      return s.told == Told::Both;
    default:
      return false;
  }
}

}  // namespace

LateJob make_late_job(uint64_t seed) {
  Dice dice(seed);
  Setting s = make_setting(dice);
  if (s.planted == PlantedLateness::RunsAhead) s.told = Told::Entries;
  const TrueTimes times =
      s.planted == PlantedLateness::RunsAhead ? simulate_running_ahead(s, dice) : simulate(s, dice);
  LateJob job;
  job.planted = s.planted;
  job.late_us = s.late;
  job.times.source = "generated";
  job.times.communicator = fmt::format("0x{:x}", seed);
  job.times.nranks = s.nranks();
  job.times.resolution_us = s.told == Told::Entries && dice.chance(0.3) ? 1000 : 0;
  std::vector<HostClock> clocks;
  for (int host = 0; host < s.hosts; ++host) {
    clocks.push_back({dice.between(-5e6, 5e6), dice.between(-50e-6, 50e-6)});
  }
  // A clock that is set hides for some calls what times of entry show, so nobody need be found.
  const bool is_set = dice.chance(0.1);
  if (is_set) {
    HostClock& clock = clocks[static_cast<size_t>(dice.below(s.hosts))];
    clock.set_at = times.left[0].back() * dice.unit();
    clock.set_by = dice.between(-2e6, 2e6);
  }
  std::set<int64_t> lacking;
  for (int rank = 0; rank < s.nranks(); ++rank) {
    const auto r = static_cast<size_t>(rank);
    RankTimes& own = job.times.ranks.emplace_back();
    own.rank = rank;
    own.host = fmt::format("node{}", s.host_of(rank));
    const HostClock& clock = clocks[static_cast<size_t>(s.host_of(rank))];
    for (int call = 0; call < s.calls; ++call) {
      if (dice.chance(s.missing)) {
        lacking.insert(call);
        continue;
      }
      const auto c = static_cast<size_t>(call);
      TimedCall& timed = own.calls.emplace_back();
      timed.number = call;
      timed.entered = s.told == Told::Durations ? kNothing : clock.at(times.entered[r][c]);
      timed.duration = s.told == Told::Entries ? kNothing : times.left[r][c] - times.entered[r][c];
      if (job.times.resolution_us > 0) {
        timed.entered =
            std::floor(timed.entered / job.times.resolution_us) * job.times.resolution_us;
      }
    }
  }
  note_truth(s, times, lacking, job);
  note_guilty(s, job);
  constexpr int64_t kEnough = 13;
  const auto common = s.calls - static_cast<int64_t>(lacking.size());
  const double least = std::max(kLeastLateUs, kLeastShareOfCall * job.median_call_us);
  job.can_be_told = shows(s) && !(is_set && s.told != Told::Durations) && common >= kLeastCalls &&
                    job.late_calls >= kEnough && job.late_us >= least + job.times.resolution_us;
  constexpr std::string_view kKinds[] = {
      "none",      "rank",           "host",        "rank in bursts", "host in bursts",
      "two ranks", "rank from half", "rank inside", "slow network",   "slow link",
      "fast rank", "first calls",    "runs ahead",  "many stalls"};
  constexpr std::string_view kTold[] = {"durations", "both", "entries"};
  job.words = fmt::format(
      "seed {}: {}, {} told, {} hosts of {}, {} calls ({} in common, {} late), rank {}, late "
      "{:.1f} "
      "ms of {:.1f}, compute {:.1f}, transfer {:.1f}, jitter {:.1f}, stalls {:.3f} of {:.1f}, "
      "period "
      "{} chance {:.2f}",
      seed, kKinds[static_cast<size_t>(s.planted)], kTold[static_cast<size_t>(s.told)], s.hosts,
      s.per_host, s.calls, common, job.late_calls, s.rank, s.late / 1000, job.median_call_us / 1000,
      s.compute / 1000, s.transfer / 1000, s.jitter / 1000, s.stall_chance, s.stall / 1000,
      s.period, s.chance);
  return job;
}

std::string mistake_of(const LateJob& job, const LateVerdict& verdict) {
  std::set<int> named;
  bool is_host_named = false;
  for (const LateParty& party : verdict.late) {
    if (party.rank < 0) {
      if (party.host != job.guilty_host) return "innocent " + party.host + " named";
      is_host_named = true;
    } else {
      if (std::ranges::find(job.guilty, party.rank) == job.guilty.end()) {
        return fmt::format("innocent rank {} named", party.rank);
      }
      named.insert(party.rank);
    }
    const bool is_inside =
        job.planted == PlantedLateness::RankInside || job.planted == PlantedLateness::SlowLink;
    if (verdict.by_durations && party.inside_the_call != is_inside)
      return "inside and outside confused";
  }
  if (!job.can_be_told || is_host_named) return {};
  return named.size() == job.guilty.size() ? "" : "missed";
}

}  // namespace ncclog
