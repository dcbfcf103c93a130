// Which runs next? Those whose outcomes leave the fewest further runs to make, whatever they are.
//
//   left: hosts a b c d, 6 links      → a b, c d at once: "a b slow" leaves a, b and their link;
//                                       "both alike" leaves the 4 links between the two pairs
//
// Of up to 8 hosts all ways to take disjoint sets of one size are tried, first with all rails, the
// best of them also with some sets once per rail. Links decide the order: of links that meet in one
// host a set of runs tests one side only, while links that meet nowhere are all tested at once. So a
// set is judged by what its worst outcome leaves: the further sets that this takes, by the shape of
// the links that are left, then how much it is, then the number of runs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>

#include "diagnose/perf/node_sets/numbered_runs.h"

namespace ncclog {
namespace {

constexpr size_t kMostListed = 8;    ///< Hosts of which all sets are tried.
constexpr size_t kMostRefined = 24;  ///< Sets of runs that are tried with single rails too.
constexpr size_t kMostInSet = 48;    ///< Runs of one set: outcomes have a bit for each.

/// Runs that are made at once.
using RunSet = std::vector<NumberedRun>;

/// What is to be found out, and what is known of the hosts.
struct Question {
  const NumberedRuns& all;
  const std::vector<Suspects>& explanations;
  const std::vector<Suspects>& doubts;
  HostSet cleared = {};      ///< Of runs that were fast with all rails.
  HostSet in_question = {};  ///< That some explanation names.
  bool has_rails = false;    ///< A single rail is an explanation.
  /// The first runs of a sort are taken to show which of them are slow. By themselves they show it only
  /// where some are slow and some are not; the next runs of their sort show it of all.
  bool first_tell = false;
};

Question question_of(const NumberedRuns& all, const std::vector<Suspects>& explanations,
                     const std::vector<Suspects>& doubts) {
  Question question = {.all = all, .explanations = explanations, .doubts = doubts};
  for (const NumberedRun& run : all.runs) {
    const bool told = all.groups[run.group].told;
    const bool with_all_rails = run.rail < 0 && run.parts.empty();
    if (told && run.pace == Pace::Fast && with_all_rails) question.cleared |= run.hosts;
  }
  for (const Suspects& suspects : explanations) {
    for (const NumberedSuspect& suspect : suspects) {
      for (const int host : {suspect.host, suspect.other}) {
        if (host >= 0) question.in_question.set(static_cast<size_t>(host));
      }
      question.has_rails |= suspect.kind == SuspectKind::Rail && suspects.size() == 1;
    }
  }
  return question;
}

// Which outcome would a set of runs have?

/// A bit for each run of the set.
struct Outcome {
  uint64_t slow = 0;
  uint64_t seen = 0;  ///< It is seen whether the run is slow; others are not among `slow`.

  auto operator<=>(const Outcome&) const = default;
};

/// If the suspects were bad: would runs of that sort show which of them are slow? `any_fast` and
/// `any_slow`: among those that are to be made.
bool is_seen(const Question& question, int group, std::span<const NumberedSuspect> suspects,
             bool any_fast, bool any_slow) {
  if (any_fast && any_slow) return true;
  if (group < 0) return question.first_tell;
  const NumberedRuns& all = question.all;
  const RunGroup& known = all.groups[group];
  if (known.told) return true;
  for (const size_t n : known.runs) {
    const NumberedRun& made = all.runs[n];
    if (made.pace == Pace::Unclear) continue;
    (slow_any(suspects, made) ? any_slow : any_fast) = true;
    if (any_fast && any_slow) return true;
  }
  return false;
}

/// What the set would show if these suspects were bad.
Outcome outcome_of(const Question& question, const RunSet& run_set,
                   std::span<const NumberedSuspect> suspects) {
  uint64_t slow = 0;
  for (size_t n = 0; n < run_set.size(); ++n) {
    if (slow_any(suspects, run_set[n])) slow |= uint64_t{1} << n;
  }
  Outcome outcome;
  uint64_t left = (uint64_t{1} << run_set.size()) - 1;
  for (size_t n = 0; n < run_set.size(); ++n) {
    if ((left >> n & 1) == 0) continue;
    uint64_t like = 0;  // The runs of its sort.
    for (size_t other = n; other < run_set.size(); ++other) {
      if (run_set[other].group == run_set[n].group) like |= uint64_t{1} << other;
    }
    left &= ~like;
    const uint64_t slow_like = slow & like;
    if (!is_seen(question, run_set[n].group, suspects, slow_like != like, slow_like != 0)) continue;
    outcome.slow |= slow_like;
    outcome.seen |= like;
  }
  return outcome;
}

using SetsByOutcome = std::map<Outcome, std::vector<const Suspects*>>;

/// The explanations by the outcome that they would have.
SetsByOutcome outcomes_of(const Question& question, const RunSet& run_set) {
  SetsByOutcome outcomes;
  for (const Suspects& suspects : question.explanations) {
    outcomes[outcome_of(question, run_set, suspects)].push_back(&suspects);
  }
  return outcomes;
}

// How much does an outcome leave to be found out?

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

/// Sets of runs that it takes to find one bad link among these: an estimate from below that is exact
/// for what is left of 8 hosts after two of them.
int sets_for(const Links& links) {
  if (links.size() < 2) return 0;
  std::map<int, size_t> degree;
  for (const auto& [a, b] : links) ++degree[a], ++degree[b];
  // Links that meet nowhere are tested at once, and one more is found by elimination.
  for (size_t n = 0; n <= links.size(); ++n) {
    if (are_apart(links, n)) return 1;
  }
  // Of links that meet in one host each set of runs tests half.
  size_t most = 0;
  for (const auto& [host, n] : degree) most = std::max(most, n);
  // Of disjoint pairs of all hosts one is slow, or none: so many outcomes has a set.
  const size_t pairs = degree.size() / 2;
  const auto outcomes = static_cast<double>(pairs + 1);
  const double by_number = std::log(static_cast<double>(links.size())) / std::log(outcomes);
  return std::max({2, log2_up(most), static_cast<int>(std::ceil(by_number - 1e-9))});
}

/// What is left to be found out. Less is better, and the first number counts most.
struct Left {
  int run_sets = 0;    ///< Further sets of runs that it takes, as an estimate; of several outcomes,
                       ///< those of the worst.
  size_t weight = 0;   ///< Hosts, links, rails and sets of several; of several outcomes, the most.
  size_t squares = 0;  ///< Of the weights of all outcomes: parts of one size are better.

  auto operator<=>(const Left&) const = default;
};

/// Where the explanations `sets` are left.
Left left_of(const std::vector<const Suspects*>& sets) {
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
  Left left = {.weight = weight, .squares = weight * weight};
  if (sets.size() < 2) return left;
  const bool has_rails =
      std::ranges::any_of(at_host, [](const auto& host) { return host.second > 1; });
  // A host is tested beside a sound one: like a link to a partner of its own.
  for (const auto& [host, suspects] : at_host) {
    links.emplace_back(host, static_cast<int>(kMostRunHosts) - 1 - host);
  }
  left.run_sets = sets_for(links) + (has_rails ? 1 : 0);
  if (rails_of_all > 0 || others > 0) left.run_sets = std::max(left.run_sets, 1);
  left.run_sets = std::max(left.run_sets, log2_up(others));
  return left;
}

Left left_after(const Question& question, const RunSet& run_set) {
  Left worst;
  for (const auto& [outcome, sets] : outcomes_of(question, run_set)) {
    const Left left = left_of(sets);
    worst.run_sets = std::max(worst.run_sets, left.run_sets);
    worst.weight = std::max(worst.weight, left.weight);
    worst.squares += left.squares;
  }
  return worst;
}

// Which set is the best?

/// By what sets that leave the same are told apart. Less is better, and the first number counts most.
using Drawbacks = std::array<size_t, 5>;

Drawbacks drawbacks_of(const Question& question, const RunSet& run_set) {
  // What was slow itself is shown better than what is left over.
  const auto untried = std::ranges::count_if(question.explanations, [&](const Suspects& suspects) {
    return suspects.size() == 1 && suspects.front().kind != SuspectKind::Rail &&
           std::ranges::none_of(run_set,
                                [&](const NumberedRun& run) { return slow_any(suspects, run); });
  });
  // Small sets of hosts clear more.
  const auto nhosts = static_cast<size_t>(run_set.front().nhosts);
  // Several suspects may still look like one.
  std::map<Outcome, size_t> doubts;
  for (const Suspects& doubt : question.doubts) ++doubts[outcome_of(question, run_set, doubt)];
  size_t doubtful = 0;
  for (const auto& [outcome, sets] : outcomes_of(question, run_set)) {
    const auto found = doubts.find(outcome);
    if (found != doubts.end()) doubtful += found->second * sets.size();
  }
  // Runs over hosts that ran before tell less.
  const auto again = std::ranges::count_if(run_set, [&](const NumberedRun& run) {
    return std::ranges::find(question.all.runs, run.hosts, &NumberedRun::hosts) !=
           question.all.runs.end();
  });
  return {static_cast<size_t>(untried), nhosts, doubtful, run_set.size(),
          static_cast<size_t>(again)};
}

/// The set of runs whose outcomes divide the explanations best, and what it leaves; nullptr: none of
/// them divides.
const RunSet* best_of(const Question& question, const std::vector<RunSet>& run_sets, Left& least) {
  std::vector<const RunSet*> equal;
  for (const RunSet& run_set : run_sets) {
    const Left left = left_after(question, run_set);
    if (equal.empty() || left < least) equal.clear(), least = left;
    if (left == least) equal.push_back(&run_set);
  }
  const RunSet* best = nullptr;
  Drawbacks fewest = {};
  for (const RunSet* run_set : equal) {
    const Drawbacks drawbacks = drawbacks_of(question, *run_set);
    if (best == nullptr || drawbacks < fewest) best = run_set, fewest = drawbacks;
  }
  return best != nullptr && outcomes_of(question, *best).size() > 1 ? best : nullptr;
}

const RunSet* choose(const Question& question, const std::vector<RunSet>& run_sets, Left& left) {
  const RunSet* sure = best_of(question, run_sets, left);
  Question if_first_tell = question;
  if_first_tell.first_tell = true;
  Left left_if_told;
  const RunSet* hoped = best_of(if_first_tell, run_sets, left_if_told);
  // The first run of a sort tells something only beside the next one, which may be worth waiting.
  const bool is_worth =
      hoped != nullptr && (sure == nullptr || left_if_told.run_sets < left.run_sets);
  if (is_worth) left = left_if_told;
  return is_worth ? hoped : sure;
}

// Which sets are there?

NumberedRun run_over(const NumberedRuns& all, const HostSet& hosts, int rail = -1) {
  NumberedRun run;
  run.hosts = hosts;
  run.nhosts = static_cast<int>(hosts.count());
  run.rail = rail;
  // The sort of which there are most runs is the one that people make.
  size_t most = 0;
  run.group = -1 - 2 * run.nhosts - (rail < 0 ? 0 : 1);
  for (size_t n = 0; n < all.groups.size(); ++n) {
    const RunGroup& group = all.groups[n];
    const bool fits = group.nhosts == run.nhosts && group.alone == (rail >= 0) && !group.inside;
    if (fits && group.runs.size() > most) {
      most = group.runs.size();
      run.group = static_cast<int>(n);
    }
  }
  return run;
}

/// Hosts that are in question, with others as their partners where that leaves few enough.
std::vector<int> pick_pool(const Question& question) {
  std::vector<int> pool;
  const auto add = [&](const auto& wanted) {
    for (int host = 0; host < static_cast<int>(question.all.hosts.size()); ++host) {
      const bool is_new = std::ranges::count(pool, host) == 0;
      if (is_new && wanted(static_cast<size_t>(host))) pool.push_back(host);
    }
  };
  const auto is_free = [&] { return pool.size() < kMostListed; };
  add([&](size_t host) { return question.in_question.test(host); });
  add([&](size_t host) { return is_free() && question.cleared.test(host); });
  add([&](size_t) { return is_free(); });
  if (pool.size() <= kMostListed) std::ranges::sort(pool);
  return pool;
}

/// Some hosts of the pool: a bit for each.
using PoolBits = unsigned;

HostSet hosts_of(const std::vector<int>& pool, PoolBits bits) {
  HostSet hosts;
  for (size_t bit = 0; bit < pool.size(); ++bit) {
    if ((bits >> bit & 1) != 0) hosts.set(static_cast<size_t>(pool[bit]));
  }
  return hosts;
}

/// Adds `run_set`, whose hosts are `taken`, with each way to add some of `parts` from `from` on, so
/// that no two have a host in common.
void add_disjoint(const NumberedRuns& all, const std::vector<int>& pool,
                  const std::vector<PoolBits>& parts, size_t from, PoolBits taken, RunSet& run_set,
                  std::vector<RunSet>& run_sets) {
  for (size_t n = from; n < parts.size(); ++n) {
    if ((parts[n] & taken) != 0) continue;
    run_set.push_back(run_over(all, hosts_of(pool, parts[n])));
    run_sets.push_back(run_set);
    const PoolBits rest = ~(taken | parts[n]) & ((1u << pool.size()) - 1);
    // A host that is left over beside pairs goes with each of the others, one after the other.
    if (__builtin_popcount(parts[n]) == 2 && __builtin_popcount(rest) == 1) {
      for (size_t bit = 0; bit < pool.size(); ++bit) {
        if ((rest >> bit & 1) != 0) continue;
        run_set.push_back(run_over(all, hosts_of(pool, rest | 1u << bit)));
        run_sets.push_back(run_set);
        run_set.pop_back();
      }
    }
    add_disjoint(all, pool, parts, n + 1, taken | parts[n], run_set, run_sets);
    run_set.pop_back();
  }
}

/// All ways to take disjoint parts of one size.
std::vector<RunSet> all_sets(const NumberedRuns& all, const std::vector<int>& pool) {
  std::vector<RunSet> run_sets;
  const auto n = static_cast<int>(pool.size());
  for (int size = 2; size < std::max(n, 3) && size <= n; ++size) {
    std::vector<PoolBits> parts;
    for (PoolBits part = 1; part < 1u << n; ++part) {
      if (__builtin_popcount(part) == size) parts.push_back(part);
    }
    RunSet run_set;
    add_disjoint(all, pool, parts, 0, 0, run_set, run_sets);
  }
  // Halves of an odd number share a host, so that they can be compared.
  for (PoolBits half = 1; n % 2 == 1 && n > 2 && half < 1u << n; ++half) {
    if (__builtin_popcount(half) != (n + 1) / 2) continue;
    const PoolBits rest = ~half & ((1u << n) - 1);
    for (PoolBits left = half; left != 0; left &= left - 1) {
      const PoolBits shared = left & (~left + 1);
      const PoolBits other = rest | shared;
      if (half > other) continue;  // Each pair of halves once.
      run_sets.push_back(
          {run_over(all, hosts_of(pool, half)), run_over(all, hosts_of(pool, other))});
    }
  }
  // Too few hosts to compare pairs of them: each over its own NICs.
  constexpr int kFewHosts = 3;
  if (n <= kFewHosts) {
    RunSet& each = run_sets.emplace_back();
    for (const int host : pool) {
      each.push_back(run_over(all, HostSet().set(static_cast<size_t>(host))));
    }
  }
  return run_sets;
}

/// Halves, quarters, … and pairs of neighbours, and of hosts far from each other.
std::vector<RunSet> coarse_sets(const NumberedRuns& all, const std::vector<int>& pool) {
  std::vector<RunSet> run_sets;
  for (size_t size = pool.size() / 2; size >= 2; size /= 2) {
    const size_t parts = std::min(pool.size() / size, kMostInSet);
    RunSet near;
    RunSet far;
    for (size_t part = 0; part < parts; ++part) {
      HostSet neighbours;
      HostSet apart;
      for (size_t n = 0; n < size; ++n) {
        neighbours.set(static_cast<size_t>(pool[part * size + n]));
        apart.set(static_cast<size_t>(pool[n * parts + part]));
      }
      near.push_back(run_over(all, neighbours));
      far.push_back(run_over(all, apart));
    }
    run_sets.push_back(std::move(near));
    run_sets.push_back(std::move(far));
  }
  return run_sets;
}

/// That all of the hosts have.
std::vector<int> common_rails(const NumberedRuns& all, const HostSet& hosts) {
  std::vector<int> common;
  bool is_first = true;
  for (size_t host = 0; host < all.hosts.size(); ++host) {
    if (!hosts.test(host)) continue;
    const std::vector<int>& rails = all.rails_of[host];
    std::vector<int> both;
    std::ranges::set_intersection(is_first ? rails : common, rails, std::back_inserter(both));
    common = std::move(both);
    is_first = false;
  }
  return common;
}

/// Adds the set with those of its runs that have a bit in `once_per_rail` once for each rail.
void add_by_rail(const Question& question, const RunSet& base, uint64_t once_per_rail,
                 std::vector<RunSet>& run_sets) {
  const NumberedRuns& all = question.all;
  RunSet run_set;
  HostSet used;
  for (size_t n = 0; n < base.size(); ++n) {
    used |= base[n].hosts;
    if ((once_per_rail >> n & 1) == 0) {
      run_set.push_back(base[n]);
      continue;
    }
    for (const int rail : common_rails(all, base[n].hosts)) {
      run_set.push_back(run_over(all, base[n].hosts, rail));
    }
  }
  // A pair that is known to be sound shows what one rail can do.
  constexpr size_t kPair = 2;
  if (__builtin_popcountll(once_per_rail) == 1 && base.front().hosts.count() == kPair) {
    HostSet sound;
    for (size_t host = 0; host < all.hosts.size() && sound.count() < kPair; ++host) {
      const bool is_sound = question.cleared.test(host) && !question.in_question.test(host);
      if (is_sound && !used.test(host)) sound.set(host);
    }
    const std::vector<int> rails = common_rails(all, sound);
    if (sound.count() == kPair && !rails.empty()) {
      run_set.push_back(run_over(all, sound, rails.front()));
    }
  }
  const bool has_more = run_set.size() > base.size();
  if (has_more && run_set.size() <= kMostInSet) run_sets.push_back(std::move(run_set));
}

/// The best sets of runs once more, with some of their runs once per rail.
std::vector<RunSet> sets_by_rail(const Question& question, const std::vector<RunSet>& run_sets) {
  Question if_first_tell = question;
  if_first_tell.first_tell = true;
  std::vector<std::pair<Left, size_t>> order;
  for (size_t n = 0; n < run_sets.size(); ++n) {
    // Larger ones once per rail are many runs that tell little more.
    if (run_sets[n].front().nhosts > 2) continue;
    order.emplace_back(left_after(if_first_tell, run_sets[n]), n);
  }
  std::ranges::sort(order);
  if (order.size() > kMostRefined) order.resize(kMostRefined);
  std::vector<size_t> chosen;
  for (const auto& [left, n] : order) chosen.push_back(n);
  for (size_t n = 0; n < run_sets.size(); ++n) {
    if (run_sets[n].size() == 1 && run_sets[n].front().nhosts <= 2) chosen.push_back(n);
  }
  std::vector<RunSet> by_rail;
  for (const size_t n : chosen) {
    const RunSet& base = run_sets[n];
    // All of its runs, each alone, and each two.
    add_by_rail(question, base, (uint64_t{1} << base.size()) - 1, by_rail);
    for (size_t i = 0; i < base.size(); ++i) {
      add_by_rail(question, base, uint64_t{1} << i, by_rail);
      for (size_t j = i + 1; j < base.size(); ++j) {
        add_by_rail(question, base, uint64_t{1} << i | uint64_t{1} << j, by_rail);
      }
    }
  }
  return by_rail;
}

std::vector<NodeSetRun> named(const NumberedRuns& all, const RunSet& run_set) {
  std::vector<NodeSetRun> next;
  for (const NumberedRun& run : run_set) {
    NodeSetRun& with_names = next.emplace_back();
    for (size_t host = 0; host < all.hosts.size(); ++host) {
      if (run.hosts.test(host)) with_names.hosts.push_back(all.hosts[host]);
    }
    if (run.rail >= 0) with_names.rail = all.rails[run.rail];
  }
  return next;
}

}  // namespace

std::vector<NodeSetRun> next_runs(const NumberedRuns& all,
                                  const std::vector<Suspects>& explanations,
                                  const std::vector<Suspects>& doubts) {
  const Question question = question_of(all, explanations, doubts);
  const std::vector<int> pool = pick_pool(question);
  const std::vector<RunSet> run_sets =
      pool.size() <= kMostListed ? all_sets(all, pool) : coarse_sets(all, pool);
  Left left;
  const RunSet* chosen = choose(question, run_sets, left);
  std::vector<RunSet> by_rail;
  // Runs with single rails are many, and may spare a host that is bad as a whole.
  if (question.has_rails || chosen == nullptr) {
    by_rail = sets_by_rail(question, run_sets);
    Left left_by_rail;
    const RunSet* other = choose(question, by_rail, left_by_rail);
    const bool is_better = chosen == nullptr || left_by_rail.run_sets < left.run_sets;
    if (other != nullptr && is_better) chosen = other;
  }
  return chosen == nullptr ? std::vector<NodeSetRun>() : named(all, *chosen);
}

std::vector<NodeSetRun> halves_of(const NumberedRuns& all, const HostSet& hosts) {
  std::vector<NodeSetRun> halves(2);
  const size_t half = hosts.count() / 2;
  size_t seen = 0;
  for (size_t n = 0; n < all.hosts.size() && seen < 2 * half; ++n) {
    if (hosts.test(n)) halves[seen++ / half].hosts.push_back(all.hosts[n]);
  }
  return half == 0 ? std::vector<NodeSetRun>() : halves;
}

}  // namespace ncclog
