// Which runs next? Those whose outcomes leave the fewest further runs to make, whatever they are.
//
//   left: hosts a b c d, 6 links      → a b, c d at once: "a b slow" leaves a, b and their link;
//                                       "both alike" leaves the 4 links between the two pairs
//
// Of up to 8 hosts all ways to take disjoint sets of one size are tried, first with all rails, the
// best of them also with some sets once per rail. Links decide the order: of links that meet in one
// host a round tests one side only, while links that meet nowhere are all tested at once. So a round
// is judged by what its worst outcome leaves: the rounds that this takes, by the shape of the links
// that are left, then how much it is, then the number of runs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>

#include "diagnose/perf/node_trials.h"

namespace ncclog {
namespace {

constexpr size_t kMostListed = 8;    ///< Hosts of which all sets are tried.
constexpr size_t kMostRefined = 24;  ///< Rounds that are tried with single rails too.
constexpr size_t kMostInRound = 48;  ///< Runs of one round.

using Round = std::vector<Trial>;

/// What one outcome of a round leaves. Small numbers first.
struct Left {
  int rounds = 0;  ///< That it takes further, as an estimate.
  size_t weight = 0;
};

using Links = std::vector<std::pair<int, int>>;

int log2_up(size_t n) {
  int bits = 0;
  while ((size_t{1} << bits) < n) ++bits;
  return bits;
}

/// True if no two of the links meet.
bool are_apart(const Links& links, size_t without) {
  HostSet met;
  for (size_t n = 0; n < links.size(); ++n) {
    if (n == without) continue;
    const auto a = static_cast<size_t>(links[n].first);
    const auto b = static_cast<size_t>(links[n].second);
    if (met.test(a) || met.test(b)) return false;
    met.set(a).set(b);
  }
  return true;
}

/// Rounds that it takes to find one bad link among these: an estimate from below that is exact for
/// what is left of 8 hosts after two rounds.
int rounds_for(const Links& links) {
  if (links.size() < 2) return 0;
  std::map<int, size_t> degree;
  for (const auto& [a, b] : links) ++degree[a], ++degree[b];
  // One link is found by elimination.
  for (size_t n = 0; n <= links.size(); ++n) {
    if (are_apart(links, n)) return 1;
  }
  size_t most = 0;
  for (const auto& [host, n] : degree) most = std::max(most, n);
  const double outcomes = static_cast<double>(degree.size() / 2 + 1);
  const double by_number = std::log(static_cast<double>(links.size())) / std::log(outcomes);
  return std::max({2, log2_up(most), static_cast<int>(std::ceil(by_number - 1e-9))});
}

class Planner {
 public:
  Planner(const NodeTrials& all, const std::vector<Things>& explanations,
          const std::vector<Things>& doubts)
      : all_(all), explanations_(explanations), doubts_(doubts) {
    for (const Trial& trial : all.trials) {
      const bool told = all.groups[static_cast<size_t>(trial.group)].told;
      if (told && trial.pace == Pace::Fast && trial.rail < 0 && trial.parts.empty()) {
        cleared_ |= trial.hosts;
      }
    }
    for (const Things& things : explanations) {
      for (const Thing& thing : things) {
        if (thing.host >= 0) in_question_.set(static_cast<size_t>(thing.host));
        if (thing.other >= 0) in_question_.set(static_cast<size_t>(thing.other));
        has_rails_ |= thing.kind == SuspectKind::Rail && things.size() == 1;
      }
    }
  }

  std::vector<NextRun> take() {
    const std::vector<int> pool = pick_pool();
    std::vector<Round> rounds = pool.size() <= kMostListed ? all_rounds(pool) : coarse_rounds(pool);
    Choice choice = choose(rounds);
    // Runs with single rails are many, and may spare a host that is bad as a whole.
    if (has_rails_ || !choice.divides) {
      const std::vector<Round> by_rail = refined(rounds);
      const Choice refined = choose(by_rail);
      const bool is_better = std::get<0>(refined.score) < std::get<0>(choice.score);
      if (refined.divides && (!choice.divides || is_better)) return runs_of(*refined.round);
    }
    return choice.divides ? runs_of(*choice.round) : std::vector<NextRun>();
  }

 private:
  /// Rounds left in the worst case, what is left then, what is left in all.
  using Score = std::tuple<int, size_t, size_t>;

  /// Between rounds of one score: hosts and links that no run has (what was slow itself is shown
  /// better than what is left over), the size of sets (small ones clear more), in how far several
  /// bad things may still look like one, runs, runs over hosts that ran before.
  using Preference = std::tuple<std::ptrdiff_t, int, size_t, size_t, std::ptrdiff_t>;

  struct Choice {
    const Round* round = nullptr;
    Score score;
    bool divides = false;
  };

  Choice choose(const std::vector<Round>& rounds) const {
    const Choice sure = best_of(rounds, false);
    const Choice raw = best_of(rounds, true);
    // The first run of a sort tells something only beside the next one, which may be worth waiting.
    const bool waits = !sure.divides || std::get<0>(raw.score) < std::get<0>(sure.score);
    return waits && raw.divides ? raw : sure;
  }

  Choice best_of(const std::vector<Round>& rounds, bool raw) const {
    Choice best;
    std::vector<const Round*> equal;
    for (const Round& round : rounds) {
      const Score score = score_of(round, raw);
      if (equal.empty() || score < best.score) equal.clear(), best.score = score;
      if (score == best.score) equal.push_back(&round);
    }
    Preference least;
    for (const Round* round : equal) {
      const Preference preference = preference_of(*round, raw);
      if (best.round == nullptr || preference < least) best.round = round, least = preference;
    }
    best.divides = best.round != nullptr && divides(*best.round, raw);
    return best;
  }

  Preference preference_of(const Round& round, bool raw) const {
    std::map<Outcome, size_t> doubts;
    for (const Things& doubt : doubts_) ++doubts[outcome_of(round, doubt, raw)];
    size_t doubtful = 0;
    for (const auto& [outcome, sets] : outcomes_of(round, raw)) {
      const auto found = doubts.find(outcome);
      if (found != doubts.end()) doubtful += found->second * sets.size();
    }
    const auto untried = std::ranges::count_if(explanations_, [&](const Things& things) {
      return things.size() == 1 && things.front().kind != SuspectKind::Rail &&
             std::ranges::none_of(round,
                                  [&](const Trial& trial) { return slow_any(things, trial); });
    });
    const auto again = std::ranges::count_if(round, [&](const Trial& trial) {
      return std::ranges::any_of(all_.trials,
                                 [&](const Trial& made) { return made.hosts == trial.hosts; });
    });
    return {untried, round.front().nhosts, doubtful, round.size(), again};
  }

  /// Hosts that are in question, with others as their partners where that leaves few enough.
  std::vector<int> pick_pool() const {
    std::vector<int> pool;
    const auto add = [&](const auto& wanted) {
      for (int host = 0; host < static_cast<int>(all_.hosts.size()); ++host) {
        const bool is_new = std::ranges::count(pool, host) == 0;
        if (is_new && wanted(static_cast<size_t>(host))) pool.push_back(host);
      }
    };
    add([&](size_t host) { return in_question_.test(host); });
    const auto is_free = [&] { return pool.size() < kMostListed; };
    add([&](size_t host) { return is_free() && cleared_.test(host); });
    add([&](size_t) { return is_free(); });
    if (pool.size() <= kMostListed) std::ranges::sort(pool);
    return pool;
  }

  Trial trial_over(const HostSet& hosts, int rail = -1) const {
    Trial trial;
    trial.hosts = hosts;
    trial.nhosts = static_cast<int>(hosts.count());
    trial.rail = rail;
    // The sort of which there are most runs is the one that people make.
    size_t most = 0;
    trial.group = -1 - 2 * trial.nhosts - (rail < 0 ? 0 : 1);
    for (size_t n = 0; n < all_.groups.size(); ++n) {
      const TrialGroup& group = all_.groups[n];
      const bool fits = group.nhosts == trial.nhosts && group.alone == (rail >= 0) && !group.inside;
      if (fits && group.trials.size() > most) {
        most = group.trials.size();
        trial.group = static_cast<int>(n);
      }
    }
    return trial;
  }

  /// Those of the pool whose bits are set.
  static HostSet hosts_of(const std::vector<int>& pool, unsigned set) {
    HostSet hosts;
    for (size_t bit = 0; bit < pool.size(); ++bit) {
      if ((set >> bit & 1) != 0) hosts.set(static_cast<size_t>(pool[bit]));
    }
    return hosts;
  }

  /// All ways to take disjoint sets of one size.
  std::vector<Round> all_rounds(const std::vector<int>& pool) const {
    std::vector<Round> rounds;
    const auto n = static_cast<int>(pool.size());
    for (int size = 2; size < std::max(n, 3) && size <= n; ++size) {
      std::vector<unsigned> sets;
      for (unsigned set = 1; set < 1u << n; ++set) {
        if (__builtin_popcount(set) == size) sets.push_back(set);
      }
      Round round;
      add_rounds(pool, sets, 0, 0, round, rounds);
    }
    // Halves of an odd number share a host, so that they can be compared.
    for (unsigned set = 1; n % 2 == 1 && n > 2 && set < 1u << n; ++set) {
      if (__builtin_popcount(set) != (n + 1) / 2) continue;
      const unsigned rest = ~set & ((1u << n) - 1);
      for (unsigned shared = set; shared != 0; shared &= shared - 1) {
        const unsigned both = shared & (~shared + 1);
        const Round round = {trial_over(hosts_of(pool, set)),
                             trial_over(hosts_of(pool, rest | both))};
        if (set < (rest | both)) rounds.push_back(round);
      }
    }
    // Too few hosts to compare pairs of them: each over its own NICs.
    constexpr int kFewHosts = 3;
    if (n <= kFewHosts) {
      Round round;
      for (const int host : pool)
        round.push_back(trial_over(HostSet().set(static_cast<size_t>(host))));
      rounds.push_back(std::move(round));
    }
    return rounds;
  }

  void add_rounds(const std::vector<int>& pool, const std::vector<unsigned>& sets, size_t from,
                  unsigned taken, Round& round, std::vector<Round>& rounds) const {
    for (size_t n = from; n < sets.size(); ++n) {
      if ((sets[n] & taken) != 0) continue;
      round.push_back(trial_over(hosts_of(pool, sets[n])));
      rounds.push_back(round);
      const unsigned rest = ~(taken | sets[n]) & ((1u << pool.size()) - 1);
      if (__builtin_popcount(sets[n]) == 2 && __builtin_popcount(rest) == 1) {
        for (size_t bit = 0; bit < pool.size(); ++bit) {
          if ((rest >> bit & 1) != 0) continue;
          round.push_back(trial_over(hosts_of(pool, rest | 1u << bit)));
          rounds.push_back(round);
          round.pop_back();
        }
      }
      add_rounds(pool, sets, n + 1, taken | sets[n], round, rounds);
      round.pop_back();
    }
  }

  /// Halves, quarters, … and pairs of neighbours, and of hosts far from each other.
  std::vector<Round> coarse_rounds(const std::vector<int>& pool) const {
    std::vector<Round> rounds;
    for (size_t size = pool.size() / 2; size >= 2; size /= 2) {
      const size_t sets = std::min(pool.size() / size, kMostInRound);
      Round near;
      Round far;
      for (size_t set = 0; set < sets; ++set) {
        HostSet neighbours;
        HostSet apart;
        for (size_t n = 0; n < size; ++n) {
          neighbours.set(static_cast<size_t>(pool[set * size + n]));
          apart.set(static_cast<size_t>(pool[n * sets + set]));
        }
        near.push_back(trial_over(neighbours));
        far.push_back(trial_over(apart));
      }
      rounds.push_back(std::move(near));
      rounds.push_back(std::move(far));
    }
    return rounds;
  }

  /// The best rounds once more, with some of their sets once per rail.
  std::vector<Round> refined(const std::vector<Round>& rounds) const {
    std::vector<Round> by_rail;
    std::vector<std::pair<Score, size_t>> order;
    for (size_t n = 0; n < rounds.size(); ++n) {
      // Larger sets once per rail are many runs that tell little more.
      if (rounds[n].front().nhosts <= 2) order.emplace_back(score_of(rounds[n], true), n);
    }
    std::ranges::sort(order);
    if (order.size() > kMostRefined) order.resize(kMostRefined);
    std::vector<size_t> chosen;
    for (const auto& [score, n] : order) chosen.push_back(n);
    for (size_t n = 0; n < rounds.size(); ++n) {
      if (rounds[n].size() == 1 && rounds[n].front().nhosts <= 2) chosen.push_back(n);
    }
    for (const size_t n : chosen) {
      const Round base = rounds[n];
      std::vector<uint64_t> subsets = {(uint64_t{1} << base.size()) - 1};
      for (size_t i = 0; i < base.size(); ++i) {
        subsets.push_back(uint64_t{1} << i);
        for (size_t j = i + 1; j < base.size(); ++j) {
          subsets.push_back(uint64_t{1} << i | uint64_t{1} << j);
        }
      }
      for (const uint64_t subset : subsets) add_by_rail(base, subset, by_rail);
    }
    return by_rail;
  }

  void add_by_rail(const Round& base, uint64_t subset, std::vector<Round>& rounds) const {
    Round round;
    HostSet used;
    for (size_t n = 0; n < base.size(); ++n) {
      used |= base[n].hosts;
      if ((subset >> n & 1) == 0) {
        round.push_back(base[n]);
        continue;
      }
      for (const int rail : rails_of(base[n])) round.push_back(trial_over(base[n].hosts, rail));
    }
    // A pair that is known to be sound shows what one rail can do.
    const size_t pair = base.front().hosts.count();
    if (__builtin_popcountll(subset) == 1 && pair == 2) {
      HostSet sound;
      for (size_t host = 0; host < all_.hosts.size() && sound.count() < pair; ++host) {
        if (cleared_.test(host) && !used.test(host) && !in_question_.test(host)) sound.set(host);
      }
      if (sound.count() == pair) {
        const std::vector<int> rails = rails_of(trial_over(sound));
        if (!rails.empty()) round.push_back(trial_over(sound, rails.front()));
      }
    }
    if (round.size() > base.size() && round.size() <= kMostInRound)
      rounds.push_back(std::move(round));
  }

  /// That all hosts of the trial have.
  std::vector<int> rails_of(const Trial& trial) const {
    std::vector<int> common;
    bool is_first = true;
    for (size_t host = 0; host < all_.hosts.size(); ++host) {
      if (!trial.hosts.test(host)) continue;
      const std::vector<int>& rails = all_.rails_of[host];
      std::vector<int> both;
      std::ranges::set_intersection(is_first ? rails : common, rails, std::back_inserter(both));
      common = std::move(both);
      is_first = false;
    }
    return common;
  }

  /// Bits by run of a round: which are slow, and of which that is seen.
  using Outcome = std::pair<uint64_t, uint64_t>;

  /// What the round would show if these things were bad. Of a sort in which nothing is known to be
  /// fast, runs that are all alike show no more than that; `raw` takes them as if it were known
  /// where they are the first ones.
  Outcome outcome_of(const Round& round, std::span<const Thing> things, bool raw) const {
    struct Seen {
      int group = 0;
      bool fast = false;
      bool slow = false;
      uint64_t runs = 0;
    };
    std::array<Seen, 4> seen;  // Of all hosts or one, with all rails or one.
    size_t groups = 0;
    Outcome outcome;
    for (size_t n = 0; n < round.size(); ++n) {
      const bool slow = slow_any(things, round[n]);
      size_t place = 0;
      while (place < groups && seen[place].group != round[n].group) ++place;
      if (place == groups && groups < seen.size()) seen[groups++].group = round[n].group;
      Seen& of = seen[std::min(place, seen.size() - 1)];
      (slow ? of.slow : of.fast) = true;
      of.runs |= uint64_t{1} << n;
      if (slow) outcome.first |= uint64_t{1} << n;
    }
    for (Seen& of : std::span(seen).first(groups)) {
      look_at_known(of.group, things, raw, of.fast, of.slow);
      if (of.fast && of.slow) {
        outcome.second |= of.runs;
      } else {
        outcome.first &= ~of.runs;
      }
    }
    return outcome;
  }

  /// What earlier runs of the sort show beside these.
  void look_at_known(int group, std::span<const Thing> things, bool raw, bool& fast,
                     bool& slow) const {
    if (group < 0) {
      if (raw) fast = slow = true;
      return;
    }
    const TrialGroup& known = all_.groups[static_cast<size_t>(group)];
    if (known.told) fast = slow = true;
    for (const size_t n : known.trials) {
      if (fast && slow) return;
      const Trial& trial = all_.trials[n];
      if (trial.pace != Pace::Unclear) (slow_any(things, trial) ? slow : fast) = true;
    }
  }

  /// Of what is to be divided, by outcome.
  std::map<Outcome, std::vector<const Things*>> outcomes_of(const Round& round, bool raw) const {
    std::map<Outcome, std::vector<const Things*>> outcomes;
    for (const Things& things : explanations_) {
      outcomes[outcome_of(round, things, raw)].push_back(&things);
    }
    return outcomes;
  }

  bool divides(const Round& round, bool raw) const { return outcomes_of(round, raw).size() > 1; }

  Left left_of(const std::vector<const Things*>& sets) const {
    std::map<int, int> at_host;  // How many things: the host, its rails.
    Links links;
    size_t rails_of_all = 0;
    size_t others = 0;  // Nothing bad, or several things.
    for (const Things* things : sets) {
      if (things->size() != 1) {
        ++others;
        continue;
      }
      const Thing& thing = things->front();
      if (thing.kind == SuspectKind::Link) {
        links.emplace_back(thing.host, thing.other);
      } else if (thing.host >= 0) {
        ++at_host[thing.host];
      } else {
        ++rails_of_all;
      }
    }
    const size_t weight = at_host.size() + links.size() + (rails_of_all > 0 ? 1 : 0) + others;
    if (sets.size() < 2) return {0, weight};
    const bool has_rails =
        std::ranges::any_of(at_host, [](const auto& host) { return host.second > 1; });
    // A host is tested beside a sound one: like a link to a partner of its own.
    for (const auto& [host, things] : at_host) {
      links.emplace_back(host, static_cast<int>(kMostHosts) - 1 - host);
    }
    int rounds = rounds_for(links) + (has_rails ? 1 : 0);
    if (rails_of_all > 0 || others > 0) rounds = std::max(rounds, 1);
    return {std::max(rounds, log2_up(others)), weight};
  }

  Score score_of(const Round& round, bool raw) const {
    Left worst;
    size_t in_all = 0;
    for (const auto& [outcome, sets] : outcomes_of(round, raw)) {
      const Left left = left_of(sets);
      worst.rounds = std::max(worst.rounds, left.rounds);
      worst.weight = std::max(worst.weight, left.weight);
      in_all += left.weight * left.weight;
    }
    return {worst.rounds, worst.weight, in_all};
  }

  std::vector<NextRun> runs_of(const Round& round) const {
    std::vector<NextRun> runs;
    for (const Trial& trial : round) {
      NextRun& run = runs.emplace_back();
      for (size_t host = 0; host < all_.hosts.size(); ++host) {
        if (trial.hosts.test(host)) run.hosts.push_back(all_.hosts[host]);
      }
      if (trial.rail >= 0) run.rail = all_.rails[static_cast<size_t>(trial.rail)];
    }
    return runs;
  }

  const NodeTrials& all_;
  const std::vector<Things>& explanations_;
  const std::vector<Things>& doubts_;
  HostSet cleared_;
  HostSet in_question_;
  bool has_rails_ = false;
};

}  // namespace

std::vector<NextRun> next_runs(const NodeTrials& all, const std::vector<Things>& explanations,
                               const std::vector<Things>& doubts) {
  return Planner(all, explanations, doubts).take();
}

std::vector<NextRun> halves_of(const NodeTrials& all, const HostSet& hosts) {
  std::vector<NextRun> halves(2);
  const size_t half = hosts.count() / 2;
  size_t seen = 0;
  for (size_t n = 0; n < all.hosts.size() && seen < 2 * half; ++n) {
    if (hosts.test(n)) halves[seen++ / half].hosts.push_back(all.hosts[n]);
  }
  return half == 0 ? std::vector<NextRun>() : halves;
}

}  // namespace ncclog
