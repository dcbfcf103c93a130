#include "diagnose/perf/node_sets/numbered_runs.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/sorting.h"

namespace ncclog {
namespace {

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

void read_names(const std::vector<NodeSetRun>& runs, NumberedRuns& all) {
  std::set<std::string> hosts;
  std::set<std::string> rails;
  for (const NodeSetRun& run : runs) {
    std::set<std::string> more = hosts;
    more.insert(run.hosts.begin(), run.hosts.end());
    if (!is_usable(run) || more.size() > kMostRunHosts) continue;
    hosts = std::move(more);
    rails.insert(run.rails.begin(), run.rails.end());
    for (size_t n = 0; n < run.hosts.size(); ++n) rails.insert(part_of(run, n));
  }
  rails.erase("");
  all.hosts.assign(hosts.begin(), hosts.end());
  all.rails.assign(rails.begin(), rails.end());
}

void read_rails_of_hosts(const std::vector<NodeSetRun>& runs, NumberedRuns& all) {
  std::vector<std::set<int>> rails(all.hosts.size());
  for (const NodeSetRun& run : runs) {
    for (size_t n = 0; n < run.hosts.size(); ++n) {
      if (!std::ranges::binary_search(all.hosts, run.hosts[n]) || !is_usable(run)) continue;
      std::set<int>& there = rails[index_in(all.hosts, run.hosts[n])];
      for (const std::string& rail : run.rails) there.insert(index_in(all.rails, rail));
      const std::string& part = part_of(run, n);
      if (!part.empty()) there.insert(index_in(all.rails, part));
    }
  }
  for (const std::set<int>& there : rails) all.rails_of.emplace_back(there.begin(), there.end());
}

NumberedRun number_run(const NodeSetRun& run, const NumberedRuns& all) {
  NumberedRun compared;
  compared.nhosts = static_cast<int>(run.hosts.size());
  compared.inside = run.hosts.size() == 1 && !run.over_network;
  std::map<int, int> parts;
  for (size_t n = 0; n < run.hosts.size(); ++n) {
    const int host = index_in(all.hosts, run.hosts[n]);
    compared.hosts.set(static_cast<size_t>(host));
    const std::string& part = part_of(run, n);
    if (!part.empty()) parts[host] = index_in(all.rails, part);
  }
  const bool same = std::ranges::all_of(
      parts, [&](const auto& part) { return part.second == parts.begin()->second; });
  if (parts.size() == run.hosts.size() && same) {
    compared.rail = parts.begin()->second;
  } else {
    compared.parts = std::move(parts);
  }
  return compared;
}

size_t group_of(const NodeSetRun& run, const NumberedRun& compared, NumberedRuns& all) {
  const bool alone = compared.rail >= 0 || !compared.parts.empty();
  const auto found = std::ranges::find_if(all.groups, [&](const RunGroup& group) {
    return group.like == run.like && group.nhosts == compared.nhosts && group.alone == alone &&
           group.inside == compared.inside;
  });
  const auto index = static_cast<size_t>(found - all.groups.begin());
  if (found == all.groups.end()) {
    all.groups.push_back({run.like, compared.nhosts, alone, compared.inside});
  }
  RunGroup& group = all.groups[index];
  // A host that is slow by itself is a matter of its own: of its settings, say.
  if (!group.inside) group.ceiling = std::max(group.ceiling, run.ceiling);
  return index;
}

void judge_group(RunGroup& group, std::vector<NumberedRun>& runs) {
  double best = 0;
  for (const size_t n : group.runs) best = std::max(best, runs[n].busbw);
  bool differ = false;
  for (const size_t n : group.runs) differ |= runs[n].busbw <= kSlowTo * best;
  // Hosts that never ran together may be of other kinds, unless most of them are alike.
  constexpr std::ptrdiff_t kAlike = 2;
  const auto near_best = std::ranges::count_if(
      group.runs, [&](size_t n) { return runs[n].busbw >= kFastFrom * best; });
  if (group.inside && near_best < kAlike) differ = false;
  const bool all_slow = !differ && group.ceiling > 0 && best <= kMissed * group.ceiling;
  const bool all_fast = !differ && group.ceiling > 0 && best >= kReached * group.ceiling;
  group.differ = differ;
  group.told = differ || all_slow || all_fast;
  for (const size_t n : group.runs) {
    NumberedRun& compared = runs[n];
    if (!group.told && compared.busbw < kFastFrom * best) continue;
    if (compared.busbw >= kFastFrom * best) {
      compared.pace = all_slow ? Pace::Slow : Pace::Fast;
    } else if (compared.busbw <= kSlowTo * best) {
      compared.pace = Pace::Slow;
    }
  }
}

/// Repetitions that are fast once and slow once say nothing about what is bad.
bool contradict(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return least <= kSlowTo * most;
}

/// Whether a set of suspects explains a group. Else `missing` is a run that must be slow and that it
/// does not slow; nullptr: there is none.
bool explain_group(const NumberedRuns& all, const RunGroup& group,
                   std::span<const NumberedSuspect> suspects, bool hosts_count,
                   const NumberedRun*& missing) {
  bool slow_seen = false;
  bool fits = true;
  const NumberedRun* fast_seen = nullptr;
  missing = nullptr;
  for (const size_t n : group.runs) {
    const NumberedRun& compared = all.runs[n];
    if (compared.pace == Pace::Unclear) continue;
    const bool is_slow = slow_any(suspects, compared, hosts_count);
    if (is_slow) slow_seen = true;
    if (!is_slow && fast_seen == nullptr) fast_seen = &compared;
    if (!group.told || is_slow == (compared.pace == Pace::Slow)) continue;
    fits = false;
    if (!is_slow && missing == nullptr) missing = &compared;
  }
  // Alike, but some would be slow and some not.
  if (!group.told && slow_seen && fast_seen != nullptr) missing = fast_seen;
  return fits && missing == nullptr;
}

/// The same in the better of the two ways in which suspects may act on a group.
bool explain_group(const NumberedRuns& all, const RunGroup& group,
                   std::span<const NumberedSuspect> suspects, const NumberedRun*& missing) {
  if (explain_group(all, group, suspects, true, missing)) return true;
  if (!group.may_spare_host()) return false;
  const NumberedRun* missing_without = nullptr;
  const bool fits = explain_group(all, group, suspects, false, missing_without);
  if (fits || missing == nullptr) missing = missing_without;
  return fits;
}

}  // namespace

NumberedRuns number_runs(const std::vector<NodeSetRun>& runs) {
  NumberedRuns all;
  read_names(runs, all);
  read_rails_of_hosts(runs, all);
  std::map<std::tuple<size_t, std::vector<std::string>, std::string>, size_t> known;
  std::vector<std::vector<double>> values;
  for (const NodeSetRun& run : runs) {
    const bool has_hosts = std::ranges::all_of(run.hosts, [&](const std::string& host) {
      return std::ranges::binary_search(all.hosts, host);
    });
    if (!is_usable(run) || !has_hosts) continue;
    NumberedRun compared = number_run(run, all);
    const size_t group = group_of(run, compared, all);
    std::string parts = run.rail;
    for (const std::string& part : run.parts) parts += "\n" + part;
    const auto [place, is_new] = known.try_emplace({group, run.hosts, parts}, all.runs.size());
    if (is_new) {
      compared.group = static_cast<int>(group);
      all.groups[group].runs.push_back(all.runs.size());
      all.runs.push_back(std::move(compared));
      values.emplace_back();
    }
    all.runs[place->second].names.push_back(run.name);
    values[place->second].push_back(run.busbw);
  }
  std::set<size_t> flaky;
  for (size_t n = 0; n < values.size(); ++n) {
    if (contradict(values[n])) flaky.insert(n);
    all.runs[n].least = std::ranges::min(values[n]);
    all.runs[n].most = std::ranges::max(values[n]);
    all.runs[n].busbw = median_of(values[n]);
  }
  for (RunGroup& group : all.groups) judge_group(group, all.runs);
  for (const size_t n : flaky) {
    all.runs[n].pace = Pace::Unclear;
    all.flaky.insert(all.flaky.end(), all.runs[n].names.begin(), all.runs[n].names.end());
  }
  return all;
}

bool slows(const NumberedSuspect& suspect, const NumberedRun& compared) {
  const auto has = [&](int host) { return compared.hosts.test(static_cast<size_t>(host)); };
  if (suspect.kind == SuspectKind::Host) return has(suspect.host);
  if (compared.inside) return false;
  if (suspect.kind == SuspectKind::Link) return has(suspect.host) && has(suspect.other);
  if (suspect.host >= 0) {
    if (!has(suspect.host)) return false;
    const auto part = compared.parts.find(suspect.host);
    const int used = part == compared.parts.end() ? compared.rail : part->second;
    return used < 0 || used == suspect.rail;
  }
  // A host whose part is not named uses all.
  const bool uses_all = compared.rail < 0 &&
                        std::ssize(compared.parts) < static_cast<std::ptrdiff_t>(compared.nhosts);
  return uses_all || compared.rail == suspect.rail ||
         std::ranges::any_of(compared.parts,
                             [&](const auto& part) { return part.second == suspect.rail; });
}

bool slow_any(std::span<const NumberedSuspect> suspects, const NumberedRun& compared,
              bool hosts_count) {
  return std::ranges::any_of(suspects, [&](const NumberedSuspect& suspect) {
    return (hosts_count || suspect.kind != SuspectKind::Host) && slows(suspect, compared);
  });
}

const NumberedRun* unexplained_by(const NumberedRuns& all,
                                  std::span<const NumberedSuspect> suspects) {
  for (const RunGroup& group : all.groups) {
    const NumberedRun* missing = nullptr;
    if (!explain_group(all, group, suspects, missing) && missing != nullptr) return missing;
  }
  return nullptr;
}

bool explain(const NumberedRuns& all, std::span<const NumberedSuspect> suspects) {
  return std::ranges::all_of(all.groups, [&](const RunGroup& group) {
    const NumberedRun* missing = nullptr;
    return explain_group(all, group, suspects, missing);
  });
}

std::optional<Suspects> possible_suspects(const NumberedRuns& all, size_t most) {
  std::vector<const NumberedRun*> fast;
  std::vector<HostSet> fast_with(all.hosts.size());  // Two hosts of one fast run clear their link.
  HostSet cleared;
  for (const NumberedRun& compared : all.runs) {
    const RunGroup& group = all.groups[compared.group];
    if (!group.told || compared.pace != Pace::Fast) continue;
    fast.push_back(&compared);
    if (!group.may_spare_host()) cleared |= compared.hosts;
    if (compared.inside) continue;
    for (size_t host = 0; host < all.hosts.size(); ++host) {
      if (compared.hosts.test(host)) fast_with[host] |= compared.hosts;
    }
  }
  const auto is_cleared = [&](const NumberedSuspect& suspect) {
    const auto host = static_cast<size_t>(suspect.host);
    if (suspect.kind == SuspectKind::Host) return cleared.test(host);
    if (suspect.kind == SuspectKind::Link) {
      return fast_with[host].test(static_cast<size_t>(suspect.other));
    }
    return std::ranges::any_of(
        fast, [&](const NumberedRun* compared) { return slows(suspect, *compared); });
  };
  Suspects suspects;
  const auto add = [&](const NumberedSuspect& suspect) {
    if (suspects.size() <= most && !is_cleared(suspect)) suspects.push_back(suspect);
  };
  const auto nhosts = static_cast<int>(all.hosts.size());
  for (int host = 0; host < nhosts; ++host) add({SuspectKind::Host, host});
  std::map<int, int> hosts_with;
  for (int host = 0; host < nhosts; ++host) {
    const std::vector<int>& rails = all.rails_of[host];
    for (const int rail : rails) ++hosts_with[rail];
    // A host's only rail is as good as the host.
    if (rails.size() < 2) continue;
    for (const int rail : rails) add({SuspectKind::Rail, host, -1, rail});
  }
  for (const auto& [rail, hosts] : hosts_with) {
    if (hosts > 1 && hosts_with.size() > 1) add({SuspectKind::Rail, -1, -1, rail});
  }
  for (int host = 0; host < nhosts && suspects.size() <= most; ++host) {
    for (int other = host + 1; other < nhosts; ++other) add({SuspectKind::Link, host, other});
  }
  if (suspects.size() > most) return std::nullopt;
  return suspects;
}

}  // namespace ncclog
