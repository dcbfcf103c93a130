#include "diagnose/perf/node_trials.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "diagnose/perf/clock_offsets.h"

namespace ncclog {
namespace {

// Of the fastest like run. Two runs of a sound cluster differ by up to 10 % each way, 0.82 of each
// other: what lies between the two bounds may be either, and says nothing.
constexpr double kFastFrom = 0.87;
constexpr double kSlowTo = 0.77;

// Of what such a run can reach, a figure that may be 15 % off itself.
constexpr double kReached = 0.8;
constexpr double kMissed = 0.6;

int index_in(const std::vector<std::string>& sorted, const std::string& name) {
  return static_cast<int>(std::ranges::lower_bound(sorted, name) - sorted.begin());
}

bool is_usable(const NodeSetRun& run) {
  return !run.hosts.empty() && run.busbw > 0 &&
         (run.parts.empty() || run.parts.size() == run.hosts.size());
}

/// What was used alone on the n-th host; empty: everything.
const std::string& part_of(const NodeSetRun& run, size_t n) {
  return run.rail.empty() && !run.parts.empty() ? run.parts[n] : run.rail;
}

void read_names(const std::vector<NodeSetRun>& runs, NodeTrials& all) {
  std::set<std::string> hosts;
  std::set<std::string> rails;
  for (const NodeSetRun& run : runs) {
    std::set<std::string> more = hosts;
    more.insert(run.hosts.begin(), run.hosts.end());
    if (!is_usable(run) || more.size() > kMostHosts) continue;
    hosts = std::move(more);
    rails.insert(run.rails.begin(), run.rails.end());
    for (size_t n = 0; n < run.hosts.size(); ++n) rails.insert(part_of(run, n));
  }
  rails.erase("");
  all.hosts.assign(hosts.begin(), hosts.end());
  all.rails.assign(rails.begin(), rails.end());
}

void read_rails_of_hosts(const std::vector<NodeSetRun>& runs, NodeTrials& all) {
  std::vector<std::set<int>> rails(all.hosts.size());
  for (const NodeSetRun& run : runs) {
    for (size_t n = 0; n < run.hosts.size(); ++n) {
      if (!std::ranges::binary_search(all.hosts, run.hosts[n]) || !is_usable(run)) continue;
      std::set<int>& there = rails[static_cast<size_t>(index_in(all.hosts, run.hosts[n]))];
      for (const std::string& rail : run.rails) there.insert(index_in(all.rails, rail));
      const std::string& part = part_of(run, n);
      if (!part.empty()) there.insert(index_in(all.rails, part));
    }
  }
  for (const std::set<int>& there : rails) all.rails_of.emplace_back(there.begin(), there.end());
}

Trial trial_of(const NodeSetRun& run, const NodeTrials& all) {
  Trial trial;
  trial.nhosts = static_cast<int>(run.hosts.size());
  trial.inside = run.hosts.size() == 1 && !run.over_network;
  std::map<int, int> parts;
  for (size_t n = 0; n < run.hosts.size(); ++n) {
    const int host = index_in(all.hosts, run.hosts[n]);
    trial.hosts.set(static_cast<size_t>(host));
    const std::string& part = part_of(run, n);
    if (!part.empty()) parts[host] = index_in(all.rails, part);
  }
  const bool same = std::ranges::all_of(
      parts, [&](const auto& part) { return part.second == parts.begin()->second; });
  if (parts.size() == run.hosts.size() && same) {
    trial.rail = parts.begin()->second;
  } else {
    trial.parts = std::move(parts);
  }
  return trial;
}

size_t group_of(const NodeSetRun& run, const Trial& trial, NodeTrials& all) {
  const bool alone = trial.rail >= 0 || !trial.parts.empty();
  const auto found = std::ranges::find_if(all.groups, [&](const TrialGroup& group) {
    return group.like == run.like && group.nhosts == trial.nhosts && group.alone == alone &&
           group.inside == trial.inside;
  });
  const auto index = static_cast<size_t>(found - all.groups.begin());
  if (found == all.groups.end()) {
    TrialGroup& group = all.groups.emplace_back();
    group.like = run.like;
    group.nhosts = trial.nhosts;
    group.alone = alone;
    group.inside = trial.inside;
  }
  TrialGroup& group = all.groups[index];
  // A host that is slow by itself is a matter of its own: of its settings, say.
  if (!group.inside) group.ceiling = std::max(group.ceiling, run.ceiling);
  return index;
}

void judge_group(TrialGroup& group, std::vector<Trial>& trials) {
  double best = 0;
  for (const size_t n : group.trials) best = std::max(best, trials[n].busbw);
  bool differ = false;
  for (const size_t n : group.trials) differ |= trials[n].busbw <= kSlowTo * best;
  // Hosts that never ran together may be of other kinds, unless most of them are alike.
  constexpr std::ptrdiff_t kAlike = 2;
  const auto near_best = std::ranges::count_if(
      group.trials, [&](size_t n) { return trials[n].busbw >= kFastFrom * best; });
  if (group.inside && near_best < kAlike) differ = false;
  const bool all_slow = !differ && group.ceiling > 0 && best <= kMissed * group.ceiling;
  const bool all_fast = !differ && group.ceiling > 0 && best >= kReached * group.ceiling;
  group.differ = differ;
  group.told = differ || all_slow || all_fast;
  for (const size_t n : group.trials) {
    Trial& trial = trials[n];
    if (!group.told && trial.busbw < kFastFrom * best) continue;
    if (trial.busbw >= kFastFrom * best) {
      trial.pace = all_slow ? Pace::Slow : Pace::Fast;
    } else if (trial.busbw <= kSlowTo * best) {
      trial.pace = Pace::Slow;
    }
  }
}

/// Repetitions that are fast once and slow once say nothing about what is bad.
bool contradict(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return least <= kSlowTo * most;
}

}  // namespace

NodeTrials read_trials(const std::vector<NodeSetRun>& runs) {
  NodeTrials all;
  read_names(runs, all);
  read_rails_of_hosts(runs, all);
  std::map<std::tuple<size_t, std::vector<std::string>, std::string>, size_t> known;
  std::vector<std::vector<double>> values;
  for (const NodeSetRun& run : runs) {
    const bool has_hosts = std::ranges::all_of(run.hosts, [&](const std::string& host) {
      return std::ranges::binary_search(all.hosts, host);
    });
    if (!is_usable(run) || !has_hosts) continue;
    Trial trial = trial_of(run, all);
    const size_t group = group_of(run, trial, all);
    std::string parts = run.rail;
    for (const std::string& part : run.parts) parts += "\n" + part;
    const auto [place, is_new] = known.try_emplace({group, run.hosts, parts}, all.trials.size());
    if (is_new) {
      trial.group = static_cast<int>(group);
      all.groups[group].trials.push_back(all.trials.size());
      all.trials.push_back(std::move(trial));
      values.emplace_back();
    }
    all.trials[place->second].names.push_back(run.name);
    values[place->second].push_back(run.busbw);
  }
  std::set<size_t> flaky;
  for (size_t n = 0; n < values.size(); ++n) {
    if (contradict(values[n])) flaky.insert(n);
    all.trials[n].busbw = median_of(values[n]);
  }
  for (TrialGroup& group : all.groups) judge_group(group, all.trials);
  for (const size_t n : flaky) {
    all.trials[n].pace = Pace::Unclear;
    all.flaky.insert(all.flaky.end(), all.trials[n].names.begin(), all.trials[n].names.end());
  }
  return all;
}

bool slows(const Thing& thing, const Trial& trial) {
  const auto has = [&](int host) { return trial.hosts.test(static_cast<size_t>(host)); };
  if (thing.kind == SuspectKind::Host) return has(thing.host);
  if (trial.inside) return false;
  if (thing.kind == SuspectKind::Link) return has(thing.host) && has(thing.other);
  if (thing.host >= 0) {
    if (!has(thing.host)) return false;
    const auto part = trial.parts.find(thing.host);
    const int used = part == trial.parts.end() ? trial.rail : part->second;
    return used < 0 || used == thing.rail;
  }
  // A host whose part is not named uses all.
  const bool uses_all =
      trial.rail < 0 && std::ssize(trial.parts) < static_cast<std::ptrdiff_t>(trial.nhosts);
  return uses_all || trial.rail == thing.rail ||
         std::ranges::any_of(trial.parts,
                             [&](const auto& part) { return part.second == thing.rail; });
}

bool slow_any(std::span<const Thing> things, const Trial& trial, bool hosts_count) {
  return std::ranges::any_of(things, [&](const Thing& thing) {
    return (hosts_count || thing.kind != SuspectKind::Host) && slows(thing, trial);
  });
}

namespace {

/// How a set of bad things fits a group. `missing` is a trial that it does not slow and must.
struct TrialFit {
  bool fits = true;
  const Trial* missing = nullptr;
};

TrialFit fit_of(const NodeTrials& all, const TrialGroup& group, std::span<const Thing> things,
                bool hosts_count) {
  bool slow_seen = false;
  const Trial* fast_seen = nullptr;
  TrialFit fit;
  for (const size_t n : group.trials) {
    const Trial& trial = all.trials[n];
    if (trial.pace == Pace::Unclear) continue;
    const bool is_slow = slow_any(things, trial, hosts_count);
    if (is_slow) slow_seen = true;
    if (!is_slow && fast_seen == nullptr) fast_seen = &trial;
    if (!group.told || is_slow == (trial.pace == Pace::Slow)) continue;
    fit.fits = false;
    if (!is_slow && fit.missing == nullptr) fit.missing = &trial;
  }
  // Alike, but some would be slow and some not.
  if (!group.told && slow_seen && fast_seen != nullptr) return {false, fast_seen};
  return fit;
}

/// The better of the two ways in which things may act on a group.
TrialFit best_fit(const NodeTrials& all, const TrialGroup& group, std::span<const Thing> things) {
  const TrialFit fit = fit_of(all, group, things, true);
  if (fit.fits || !group.may_spare_host()) return fit;
  const TrialFit without = fit_of(all, group, things, false);
  return without.fits || fit.missing == nullptr ? without : fit;
}

}  // namespace

const Trial* unexplained_by(const NodeTrials& all, std::span<const Thing> things) {
  for (const TrialGroup& group : all.groups) {
    const TrialFit fit = best_fit(all, group, things);
    if (!fit.fits && fit.missing != nullptr) return fit.missing;
  }
  return nullptr;
}

bool explain(const NodeTrials& all, std::span<const Thing> things) {
  return std::ranges::all_of(
      all.groups, [&](const TrialGroup& group) { return best_fit(all, group, things).fits; });
}

std::optional<Things> possible_things(const NodeTrials& all, size_t most) {
  std::vector<const Trial*> fast;
  std::vector<HostSet> fast_with(all.hosts.size());  // Two hosts of one fast run clear their link.
  HostSet cleared;
  for (const Trial& trial : all.trials) {
    const TrialGroup& group = all.groups[static_cast<size_t>(trial.group)];
    if (!group.told || trial.pace != Pace::Fast) continue;
    fast.push_back(&trial);
    if (!group.may_spare_host()) cleared |= trial.hosts;
    if (trial.inside) continue;
    for (size_t host = 0; host < all.hosts.size(); ++host) {
      if (trial.hosts.test(host)) fast_with[host] |= trial.hosts;
    }
  }
  const auto is_cleared = [&](const Thing& thing) {
    const auto host = static_cast<size_t>(thing.host);
    if (thing.kind == SuspectKind::Host) return cleared.test(host);
    if (thing.kind == SuspectKind::Link) {
      return fast_with[host].test(static_cast<size_t>(thing.other));
    }
    return std::ranges::any_of(fast, [&](const Trial* trial) { return slows(thing, *trial); });
  };
  Things things;
  const auto add = [&](const Thing& thing) {
    if (things.size() <= most && !is_cleared(thing)) things.push_back(thing);
  };
  const auto nhosts = static_cast<int>(all.hosts.size());
  for (int host = 0; host < nhosts; ++host) add({SuspectKind::Host, host});
  std::map<int, int> hosts_with;
  for (int host = 0; host < nhosts; ++host) {
    const std::vector<int>& rails = all.rails_of[static_cast<size_t>(host)];
    for (const int rail : rails) ++hosts_with[rail];
    // A host's only rail is as good as the host.
    if (rails.size() < 2) continue;
    for (const int rail : rails) add({SuspectKind::Rail, host, -1, rail});
  }
  for (const auto& [rail, hosts] : hosts_with) {
    if (hosts > 1 && hosts_with.size() > 1) add({SuspectKind::Rail, -1, -1, rail});
  }
  for (int host = 0; host < nhosts && things.size() <= most; ++host) {
    for (int other = host + 1; other < nhosts; ++other) add({SuspectKind::Link, host, other});
  }
  if (things.size() > most) return std::nullopt;
  return things;
}

Suspect suspect_of(const NodeTrials& all, const Thing& thing) {
  const auto name = [](const std::vector<std::string>& names, int n) {
    return n < 0 ? std::string() : names[static_cast<size_t>(n)];
  };
  return {thing.kind, name(all.hosts, thing.host), name(all.hosts, thing.other),
          name(all.rails, thing.rail)};
}

}  // namespace ncclog
