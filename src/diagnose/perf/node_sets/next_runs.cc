// Which runs next? Those whose outcomes leave the fewest further runs to make, whatever they are.
//
//   left: hosts a b c d, 6 links      → a b, c d at once: "a b slow" leaves a, b and their link;
//                                       "both alike" leaves the 4 links between the two pairs
//
// Of up to 8 hosts all ways to take disjoint sets of one size are tried, first with all rails, the
// best of them also with some sets once per rail. Links decide the order: of links that meet in one
// host a set of runs tests one side only, while links that meet nowhere are all tested at once. So a
// set is judged by what its worst outcome leaves: the further sets that this takes, by the shape of the links
// that are left, then how much it is, then the number of runs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <tuple>

#include "diagnose/perf/node_sets/numbered_runs.h"

namespace ncclog {
namespace {

constexpr size_t kMostListed = 8;    ///< Hosts of which all sets are tried.
constexpr size_t kMostRefined = 24;  ///< Sets of runs that are tried with single rails too.
constexpr size_t kMostInSet = 48;    ///< Runs of one set.

using RunSet = std::vector<NumberedRun>;

/// What one outcome of a set leaves. Small numbers first.
struct Left {
  int run_sets = 0;  ///< That it takes further, as an estimate.
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

/// Sets of runs that it takes to find one bad link among these: an estimate from below that is exact for
/// what is left of 8 hosts after two of them.
int sets_for(const Links& links) {
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
  Planner(const NumberedRuns& all, const std::vector<Suspects>& explanations,
          const std::vector<Suspects>& doubts)
      : all_(all), explanations_(explanations), doubts_(doubts) {
    for (const NumberedRun& run : all.runs) {
      const bool told = all.groups[static_cast<size_t>(run.group)].told;
      if (told && run.pace == Pace::Fast && run.rail < 0 && run.parts.empty()) {
        cleared_ |= run.hosts;
      }
    }
    for (const Suspects& suspects : explanations) {
      for (const NumberedSuspect& suspect : suspects) {
        if (suspect.host >= 0) in_question_.set(static_cast<size_t>(suspect.host));
        if (suspect.other >= 0) in_question_.set(static_cast<size_t>(suspect.other));
        has_rails_ |= suspect.kind == SuspectKind::Rail && suspects.size() == 1;
      }
    }
  }

  std::vector<NextRun> take() {
    const std::vector<int> pool = pick_pool();
    std::vector<RunSet> run_sets = pool.size() <= kMostListed ? all_sets(pool) : coarse_sets(pool);
    Choice choice = choose(run_sets);
    // Runs with single rails are many, and may spare a host that is bad as a whole.
    if (has_rails_ || !choice.divides) {
      const std::vector<RunSet> by_rail = refined(run_sets);
      const Choice refined = choose(by_rail);
      const bool is_better = std::get<0>(refined.score) < std::get<0>(choice.score);
      if (refined.divides && (!choice.divides || is_better)) return runs_of(*refined.run_set);
    }
    return choice.divides ? runs_of(*choice.run_set) : std::vector<NextRun>();
  }

 private:
  /// Sets of runs left in the worst case, what is left then, what is left in all.
  using Score = std::tuple<int, size_t, size_t>;

  /// Between sets of runs of one score: hosts and links that no run has (what was slow itself is shown
  /// better than what is left over), the size of sets (small ones clear more), in how far several
  /// suspects may still look like one, runs, runs over hosts that ran before.
  using Preference = std::tuple<std::ptrdiff_t, int, size_t, size_t, std::ptrdiff_t>;

  struct Choice {
    const RunSet* run_set = nullptr;
    Score score;
    bool divides = false;
  };

  Choice choose(const std::vector<RunSet>& run_sets) const {
    const Choice sure = best_of(run_sets, false);
    const Choice raw = best_of(run_sets, true);
    // The first run of a sort tells something only beside the next one, which may be worth waiting.
    const bool waits = !sure.divides || std::get<0>(raw.score) < std::get<0>(sure.score);
    return waits && raw.divides ? raw : sure;
  }

  Choice best_of(const std::vector<RunSet>& run_sets, bool raw) const {
    Choice best;
    std::vector<const RunSet*> equal;
    for (const RunSet& run_set : run_sets) {
      const Score score = score_of(run_set, raw);
      if (equal.empty() || score < best.score) equal.clear(), best.score = score;
      if (score == best.score) equal.push_back(&run_set);
    }
    Preference least;
    for (const RunSet* run_set : equal) {
      const Preference preference = preference_of(*run_set, raw);
      if (best.run_set == nullptr || preference < least) best.run_set = run_set, least = preference;
    }
    best.divides = best.run_set != nullptr && divides(*best.run_set, raw);
    return best;
  }

  Preference preference_of(const RunSet& run_set, bool raw) const {
    std::map<Outcome, size_t> doubts;
    for (const Suspects& doubt : doubts_) ++doubts[outcome_of(run_set, doubt, raw)];
    size_t doubtful = 0;
    for (const auto& [outcome, sets] : outcomes_of(run_set, raw)) {
      const auto found = doubts.find(outcome);
      if (found != doubts.end()) doubtful += found->second * sets.size();
    }
    const auto untried = std::ranges::count_if(explanations_, [&](const Suspects& suspects) {
      return suspects.size() == 1 && suspects.front().kind != SuspectKind::Rail &&
             std::ranges::none_of(run_set,
                                  [&](const NumberedRun& run) { return slow_any(suspects, run); });
    });
    const auto again = std::ranges::count_if(run_set, [&](const NumberedRun& run) {
      return std::ranges::any_of(all_.runs,
                                 [&](const NumberedRun& made) { return made.hosts == run.hosts; });
    });
    return {untried, run_set.front().nhosts, doubtful, run_set.size(), again};
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

  NumberedRun run_over(const HostSet& hosts, int rail = -1) const {
    NumberedRun run;
    run.hosts = hosts;
    run.nhosts = static_cast<int>(hosts.count());
    run.rail = rail;
    // The sort of which there are most runs is the one that people make.
    size_t most = 0;
    run.group = -1 - 2 * run.nhosts - (rail < 0 ? 0 : 1);
    for (size_t n = 0; n < all_.groups.size(); ++n) {
      const RunGroup& group = all_.groups[n];
      const bool fits = group.nhosts == run.nhosts && group.alone == (rail >= 0) && !group.inside;
      if (fits && group.runs.size() > most) {
        most = group.runs.size();
        run.group = static_cast<int>(n);
      }
    }
    return run;
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
  std::vector<RunSet> all_sets(const std::vector<int>& pool) const {
    std::vector<RunSet> run_sets;
    const auto n = static_cast<int>(pool.size());
    for (int size = 2; size < std::max(n, 3) && size <= n; ++size) {
      std::vector<unsigned> sets;
      for (unsigned set = 1; set < 1u << n; ++set) {
        if (__builtin_popcount(set) == size) sets.push_back(set);
      }
      RunSet run_set;
      add_sets(pool, sets, 0, 0, run_set, run_sets);
    }
    // Halves of an odd number share a host, so that they can be compared.
    for (unsigned set = 1; n % 2 == 1 && n > 2 && set < 1u << n; ++set) {
      if (__builtin_popcount(set) != (n + 1) / 2) continue;
      const unsigned rest = ~set & ((1u << n) - 1);
      for (unsigned shared = set; shared != 0; shared &= shared - 1) {
        const unsigned both = shared & (~shared + 1);
        const RunSet run_set = {run_over(hosts_of(pool, set)),
                                run_over(hosts_of(pool, rest | both))};
        if (set < (rest | both)) run_sets.push_back(run_set);
      }
    }
    // Too few hosts to compare pairs of them: each over its own NICs.
    constexpr int kFewHosts = 3;
    if (n <= kFewHosts) {
      RunSet run_set;
      for (const int host : pool)
        run_set.push_back(run_over(HostSet().set(static_cast<size_t>(host))));
      run_sets.push_back(std::move(run_set));
    }
    return run_sets;
  }

  void add_sets(const std::vector<int>& pool, const std::vector<unsigned>& sets, size_t from,
                unsigned taken, RunSet& run_set, std::vector<RunSet>& run_sets) const {
    for (size_t n = from; n < sets.size(); ++n) {
      if ((sets[n] & taken) != 0) continue;
      run_set.push_back(run_over(hosts_of(pool, sets[n])));
      run_sets.push_back(run_set);
      const unsigned rest = ~(taken | sets[n]) & ((1u << pool.size()) - 1);
      if (__builtin_popcount(sets[n]) == 2 && __builtin_popcount(rest) == 1) {
        for (size_t bit = 0; bit < pool.size(); ++bit) {
          if ((rest >> bit & 1) != 0) continue;
          run_set.push_back(run_over(hosts_of(pool, rest | 1u << bit)));
          run_sets.push_back(run_set);
          run_set.pop_back();
        }
      }
      add_sets(pool, sets, n + 1, taken | sets[n], run_set, run_sets);
      run_set.pop_back();
    }
  }

  /// Halves, quarters, … and pairs of neighbours, and of hosts far from each other.
  std::vector<RunSet> coarse_sets(const std::vector<int>& pool) const {
    std::vector<RunSet> run_sets;
    for (size_t size = pool.size() / 2; size >= 2; size /= 2) {
      const size_t sets = std::min(pool.size() / size, kMostInSet);
      RunSet near;
      RunSet far;
      for (size_t set = 0; set < sets; ++set) {
        HostSet neighbours;
        HostSet apart;
        for (size_t n = 0; n < size; ++n) {
          neighbours.set(static_cast<size_t>(pool[set * size + n]));
          apart.set(static_cast<size_t>(pool[n * sets + set]));
        }
        near.push_back(run_over(neighbours));
        far.push_back(run_over(apart));
      }
      run_sets.push_back(std::move(near));
      run_sets.push_back(std::move(far));
    }
    return run_sets;
  }

  /// The best sets of runs once more, with some of their sets once per rail.
  std::vector<RunSet> refined(const std::vector<RunSet>& run_sets) const {
    std::vector<RunSet> by_rail;
    std::vector<std::pair<Score, size_t>> order;
    for (size_t n = 0; n < run_sets.size(); ++n) {
      // Larger sets once per rail are many runs that tell little more.
      if (run_sets[n].front().nhosts <= 2) order.emplace_back(score_of(run_sets[n], true), n);
    }
    std::ranges::sort(order);
    if (order.size() > kMostRefined) order.resize(kMostRefined);
    std::vector<size_t> chosen;
    for (const auto& [score, n] : order) chosen.push_back(n);
    for (size_t n = 0; n < run_sets.size(); ++n) {
      if (run_sets[n].size() == 1 && run_sets[n].front().nhosts <= 2) chosen.push_back(n);
    }
    for (const size_t n : chosen) {
      const RunSet base = run_sets[n];
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

  void add_by_rail(const RunSet& base, uint64_t subset, std::vector<RunSet>& run_sets) const {
    RunSet run_set;
    HostSet used;
    for (size_t n = 0; n < base.size(); ++n) {
      used |= base[n].hosts;
      if ((subset >> n & 1) == 0) {
        run_set.push_back(base[n]);
        continue;
      }
      for (const int rail : rails_of(base[n])) run_set.push_back(run_over(base[n].hosts, rail));
    }
    // A pair that is known to be sound shows what one rail can do.
    const size_t pair = base.front().hosts.count();
    if (__builtin_popcountll(subset) == 1 && pair == 2) {
      HostSet sound;
      for (size_t host = 0; host < all_.hosts.size() && sound.count() < pair; ++host) {
        if (cleared_.test(host) && !used.test(host) && !in_question_.test(host)) sound.set(host);
      }
      if (sound.count() == pair) {
        const std::vector<int> rails = rails_of(run_over(sound));
        if (!rails.empty()) run_set.push_back(run_over(sound, rails.front()));
      }
    }
    if (run_set.size() > base.size() && run_set.size() <= kMostInSet)
      run_sets.push_back(std::move(run_set));
  }

  /// That all hosts of the run have.
  std::vector<int> rails_of(const NumberedRun& run) const {
    std::vector<int> common;
    bool is_first = true;
    for (size_t host = 0; host < all_.hosts.size(); ++host) {
      if (!run.hosts.test(host)) continue;
      const std::vector<int>& rails = all_.rails_of[host];
      std::vector<int> both;
      std::ranges::set_intersection(is_first ? rails : common, rails, std::back_inserter(both));
      common = std::move(both);
      is_first = false;
    }
    return common;
  }

  /// Bits by run of a set: which are slow, and of which that is seen.
  using Outcome = std::pair<uint64_t, uint64_t>;

  /// What the set would show if these suspects were bad. Of a sort in which nothing is known to be
  /// fast, runs that are all alike show no more than that; `raw` takes them as if it were known
  /// where they are the first ones.
  Outcome outcome_of(const RunSet& run_set, std::span<const NumberedSuspect> suspects,
                     bool raw) const {
    struct Seen {
      int group = 0;
      bool fast = false;
      bool slow = false;
      uint64_t runs = 0;
    };
    std::array<Seen, 4> seen;  // Of all hosts or one, with all rails or one.
    size_t groups = 0;
    Outcome outcome;
    for (size_t n = 0; n < run_set.size(); ++n) {
      const bool slow = slow_any(suspects, run_set[n]);
      size_t place = 0;
      while (place < groups && seen[place].group != run_set[n].group) ++place;
      if (place == groups && groups < seen.size()) seen[groups++].group = run_set[n].group;
      Seen& of = seen[std::min(place, seen.size() - 1)];
      (slow ? of.slow : of.fast) = true;
      of.runs |= uint64_t{1} << n;
      if (slow) outcome.first |= uint64_t{1} << n;
    }
    for (Seen& of : std::span(seen).first(groups)) {
      look_at_known(of.group, suspects, raw, of.fast, of.slow);
      if (of.fast && of.slow) {
        outcome.second |= of.runs;
      } else {
        outcome.first &= ~of.runs;
      }
    }
    return outcome;
  }

  /// What earlier runs of the sort show beside these.
  void look_at_known(int group, std::span<const NumberedSuspect> suspects, bool raw, bool& fast,
                     bool& slow) const {
    if (group < 0) {
      if (raw) fast = slow = true;
      return;
    }
    const RunGroup& known = all_.groups[static_cast<size_t>(group)];
    if (known.told) fast = slow = true;
    for (const size_t n : known.runs) {
      if (fast && slow) return;
      const NumberedRun& run = all_.runs[n];
      if (run.pace != Pace::Unclear) (slow_any(suspects, run) ? slow : fast) = true;
    }
  }

  /// Of what is to be divided, by outcome.
  std::map<Outcome, std::vector<const Suspects*>> outcomes_of(const RunSet& run_set,
                                                              bool raw) const {
    std::map<Outcome, std::vector<const Suspects*>> outcomes;
    for (const Suspects& suspects : explanations_) {
      outcomes[outcome_of(run_set, suspects, raw)].push_back(&suspects);
    }
    return outcomes;
  }

  bool divides(const RunSet& run_set, bool raw) const {
    return outcomes_of(run_set, raw).size() > 1;
  }

  Left left_of(const std::vector<const Suspects*>& sets) const {
    std::map<int, int> at_host;  // How many suspects: the host, its rails.
    Links links;
    size_t rails_of_all = 0;
    size_t others = 0;  // Nothing bad, or several suspects.
    for (const Suspects* suspects : sets) {
      if (suspects->size() != 1) {
        ++others;
        continue;
      }
      const NumberedSuspect& suspect = suspects->front();
      if (suspect.kind == SuspectKind::Link) {
        links.emplace_back(suspect.host, suspect.other);
      } else if (suspect.host >= 0) {
        ++at_host[suspect.host];
      } else {
        ++rails_of_all;
      }
    }
    const size_t weight = at_host.size() + links.size() + (rails_of_all > 0 ? 1 : 0) + others;
    if (sets.size() < 2) return {0, weight};
    const bool has_rails =
        std::ranges::any_of(at_host, [](const auto& host) { return host.second > 1; });
    // A host is tested beside a sound one: like a link to a partner of its own.
    for (const auto& [host, suspects] : at_host) {
      links.emplace_back(host, static_cast<int>(kMostHosts) - 1 - host);
    }
    int run_sets = sets_for(links) + (has_rails ? 1 : 0);
    if (rails_of_all > 0 || others > 0) run_sets = std::max(run_sets, 1);
    return {std::max(run_sets, log2_up(others)), weight};
  }

  Score score_of(const RunSet& run_set, bool raw) const {
    Left worst;
    size_t in_all = 0;
    for (const auto& [outcome, sets] : outcomes_of(run_set, raw)) {
      const Left left = left_of(sets);
      worst.run_sets = std::max(worst.run_sets, left.run_sets);
      worst.weight = std::max(worst.weight, left.weight);
      in_all += left.weight * left.weight;
    }
    return {worst.run_sets, worst.weight, in_all};
  }

  std::vector<NextRun> runs_of(const RunSet& run_set) const {
    std::vector<NextRun> next;
    for (const NumberedRun& run : run_set) {
      NextRun& named = next.emplace_back();
      for (size_t host = 0; host < all_.hosts.size(); ++host) {
        if (run.hosts.test(host)) named.hosts.push_back(all_.hosts[host]);
      }
      if (run.rail >= 0) named.rail = all_.rails[static_cast<size_t>(run.rail)];
    }
    return next;
  }

  const NumberedRuns& all_;
  const std::vector<Suspects>& explanations_;
  const std::vector<Suspects>& doubts_;
  HostSet cleared_;
  HostSet in_question_;
  bool has_rails_ = false;
};

}  // namespace

std::vector<NextRun> next_runs(const NumberedRuns& all, const std::vector<Suspects>& explanations,
                               const std::vector<Suspects>& doubts) {
  return Planner(all, explanations, doubts).take();
}

std::vector<NextRun> halves_of(const NumberedRuns& all, const HostSet& hosts) {
  std::vector<NextRun> halves(2);
  const size_t half = hosts.count() / 2;
  size_t seen = 0;
  for (size_t n = 0; n < all.hosts.size() && seen < 2 * half; ++n) {
    if (hosts.test(n)) halves[seen++ / half].hosts.push_back(all.hosts[n]);
  }
  return half == 0 ? std::vector<NextRun>() : halves;
}

}  // namespace ncclog
