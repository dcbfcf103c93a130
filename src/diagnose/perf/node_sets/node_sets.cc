#include "diagnose/perf/node_sets/node_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/perf/node_sets/numbered_runs.h"

namespace ncclog {
namespace {

constexpr size_t kMostSuspects = 3000;  ///< All hosts, links and rails of about 40 hosts of 8 NICs.
constexpr size_t kMostBad = 3;          ///< Suspects that are looked for together.
constexpr size_t kMostSets = 300;       ///< Explanations that are told apart by further runs.
constexpr size_t kMostSteps = 200'000;
constexpr size_t kMostLeft = 12;

/// Sets of suspects that explain all runs, sorted; none that holds another one's suspects and more.
struct Explanations {
  std::set<Suspects> found;
  size_t steps = 0;  ///< That looking for them took.

  bool gave_up() const { return steps > kMostSteps || found.size() >= kMostSets; }
};

/// Whether blaming `other` comes to the same as blaming `suspect`: a NIC of the bad host.
bool is_part_of(const NumberedSuspect& other, const NumberedSuspect& suspect) {
  if (other == suspect) return true;
  return suspect.kind == SuspectKind::Host && other.kind == SuspectKind::Rail &&
         other.host == suspect.host;
}

/// Adds the explanations that hold `chosen` and up to `size` suspects. Each run that must be slow needs a
/// suspect that makes it so: sets grow by whatever would explain the first run that lacks one. None of
/// them blames what comes to the same as `without`, if that is given.
void add_explanations(const NumberedRuns& all, const Suspects& possible, size_t size,
                      const NumberedSuspect* without, Suspects& chosen,
                      Explanations& explanations) {
  ++explanations.steps;
  if (explanations.gave_up()) return;
  const NumberedRun* missing = unexplained_by(all, chosen);
  if (missing == nullptr) {
    if (!explain(all, chosen)) return;
    Suspects sorted = chosen;
    std::ranges::sort(sorted);
    explanations.found.insert(std::move(sorted));
    return;
  }
  if (chosen.size() == size) return;
  for (const NumberedSuspect& suspect : possible) {
    if (without != nullptr && is_part_of(suspect, *without)) continue;
    if (!slows(suspect, *missing) || std::ranges::count(chosen, suspect) > 0) continue;
    chosen.push_back(suspect);
    add_explanations(all, possible, size, without, chosen, explanations);
    chosen.pop_back();
  }
}

/// All of up to `size` suspects. What was found before is dropped; the steps go on counting.
void find_explanations(const NumberedRuns& all, const Suspects& possible, size_t size,
                       const NumberedSuspect* without, Explanations& explanations) {
  explanations.found.clear();
  Suspects chosen;
  add_explanations(all, possible, size, without, chosen, explanations);
}

/// Explanations of one suspect more that do without one of `answer`. nullopt: too many to look at.
std::optional<std::vector<Suspects>> ways_around(const NumberedRuns& all, const Suspects& possible,
                                                 const Suspects& answer) {
  std::vector<Suspects> ways;
  for (const NumberedSuspect& suspect : answer) {
    Explanations others;
    find_explanations(all, possible, answer.size() + 1, &suspect, others);
    if (others.gave_up()) return std::nullopt;
    for (const Suspects& way : others.found) {
      // The same rail of every host is the rail of all hosts.
      const bool is_everywhere =
          suspect.kind == SuspectKind::Rail && suspect.host < 0 && way.size() == all.hosts.size() &&
          std::ranges::all_of(
              way, [&](const NumberedSuspect& each) { return each.rail == suspect.rail; });
      if (!is_everywhere) ways.push_back(way);
    }
  }
  return ways;
}

/// Explanations of one suspect more than the last of `sets`, where so few are left that it counts for
/// the next runs.
std::vector<Suspects> doubts_of(const NumberedRuns& all, const Suspects& possible,
                                const std::vector<Suspects>& sets) {
  constexpr size_t kFewSets = 6;
  constexpr size_t kFewSuspects = 120;
  std::vector<Suspects> doubts;
  const auto is_rail = [](const Suspects& set) {
    return !set.empty() && set.front().kind == SuspectKind::Rail;
  };
  // One set of runs tells all rails apart.
  if (sets.size() - static_cast<size_t>(std::ranges::count_if(sets, is_rail)) > kFewSets) {
    return doubts;
  }
  if (sets.front().empty()) {
    // Nothing need be bad, so nothing leads to what else may be.
    for (size_t a = 0; a < possible.size() && possible.size() <= kFewSuspects; ++a) {
      for (size_t b = a + 1; b < possible.size(); ++b) {
        Suspects pair = {possible[a], possible[b]};
        if (explain(all, pair)) doubts.push_back(std::move(pair));
      }
    }
    return doubts;
  }
  Explanations larger;
  find_explanations(all, possible, sets.back().size() + 1, nullptr, larger);
  doubts.assign(larger.found.begin(), larger.found.end());
  std::erase_if(doubts, [&](const Suspects& doubt) { return std::ranges::count(sets, doubt) > 0; });
  return doubts;
}

// Words.

std::vector<Suspect> named(const NumberedRuns& all, const Suspects& suspects) {
  const auto name = [](const std::vector<std::string>& names, int n) {
    return n < 0 ? std::string() : names[n];
  };
  std::vector<Suspect> with_names;
  for (const NumberedSuspect& suspect : suspects) {
    with_names.push_back({suspect.kind, name(all.hosts, suspect.host),
                          name(all.hosts, suspect.other), name(all.rails, suspect.rail)});
  }
  return with_names;
}

std::string list_of(const std::vector<std::string>& parts, std::string_view last_joint) {
  if (parts.size() < 2) return join(parts, "");
  const std::span<const std::string> all(parts);
  return fmt::format("{} {} {}", join(all.first(parts.size() - 1), ", "), last_joint, parts.back());
}

std::string lefts_text(const std::vector<Suspect>& left, size_t in_all) {
  constexpr size_t kMostWords = 4;
  std::vector<std::string> parts;
  for (const Suspect& suspect : left) {
    if (parts.size() < kMostWords) parts.push_back(suspect_text(suspect));
  }
  if (in_all <= parts.size()) return list_of(parts, "or");
  return fmt::format("{} or {} more", join(parts, ", "), in_all - parts.size());
}

/// No two of the runs use a host together, or else other NICs of it.
bool may_run_at_once(const std::vector<NodeSetRun>& next) {
  std::map<std::string, std::vector<std::string>> rails;  // By host, of the runs on it.
  for (const NodeSetRun& run : next) {
    for (const std::string& host : run.hosts) rails[host].push_back(run.rail);
  }
  return std::ranges::all_of(rails, [](auto& of_host) {
    std::vector<std::string>& used = of_host.second;
    std::ranges::sort(used);
    const bool is_shared = std::ranges::adjacent_find(used) != used.end();
    return used.size() < 2 || (!is_shared && !used.front().empty());
  });
}

std::string next_text(const std::vector<NodeSetRun>& next) {
  if (next.empty()) return "No run over these hosts would tell them apart.";
  std::vector<std::string> parts;
  std::map<std::vector<std::string>, std::vector<std::string>> rails;
  for (const NodeSetRun& run : next) rails[run.hosts].push_back(run.rail);
  for (const NodeSetRun& run : next) {
    std::vector<std::string>& of = rails[run.hosts];
    if (of.empty()) continue;
    parts.push_back(of.size() == 1 ? run_text(run)
                                   : fmt::format("{} once with each of {} alone",
                                                 run_text({.hosts = run.hosts, .rail = ""}),
                                                 list_of(of, "and")));
    of.clear();
  }
  const std::string_view how = next.size() < 2         ? ""
                               : may_run_at_once(next) ? ", which may go at once"
                                                       : ", one after the other: they share a host";
  return fmt::format("Run {}{}.", list_of(parts, "and"), how);
}

/// What is said of what was found.
std::string found_text(const NumberedRuns& all, const Suspects& answer, size_t slow,
                       size_t compared) {
  std::string text = fmt::format(
      "{} of {} {} slow, and just {} {}.", slow, plural(compared, "run"), slow == 1 ? "is" : "are",
      slow == 1 ? "this one has" : "these have", suspects_text(named(all, answer), " and "));
  if (all.hosts.size() == 2) text += " No third host shows whether all pairs are as slow.";
  for (const NumberedSuspect& suspect : answer) {
    if (suspect.kind != SuspectKind::Host) continue;
    const std::vector<int>& rails = all.rails_of[suspect.host];
    const std::string& host = all.hosts[suspect.host];
    if (rails.empty()) {
      text += fmt::format(
          " It may be one NIC of {}: runs with one NIC at a time (NCCL_IB_HCA) would show that.",
          host);
    } else if (rails.size() == 1) {
      text += fmt::format(" Of {} only {} was used.", host, all.rails[rails.front()]);
    }
  }
  return text;
}

void list_runs(const NumberedRuns& all, NodeSetAnswer& answer) {
  for (const NumberedRun& run : all.runs) {
    const bool told = all.groups[run.group].told;
    std::vector<std::string>& names = !told || run.pace == Pace::Unclear ? answer.unclear
                                      : run.pace == Pace::Fast           ? answer.fast
                                                                         : answer.slow;
    names.insert(names.end(), run.names.begin(), run.names.end());
  }
}

/// Which run is farthest below one like it, repetitions of the same hosts included.
void find_lowest(const NumberedRuns& all, NodeSetAnswer& answer) {
  double share = kNormalBeside;
  for (const RunGroup& group : all.groups) {
    double best = 0;
    for (const size_t n : group.runs) best = std::max(best, all.runs[n].most);
    for (const size_t n : group.runs) {
      // Hosts that never ran together may be of other kinds.
      if (group.inside || all.runs[n].least >= share * best) continue;
      share = all.runs[n].least / best;
      answer.lowest = all.runs[n].least;
      answer.beside = best;
    }
  }
}

void list_left(const NumberedRuns& all, const std::vector<Suspects>& sets, NodeSetAnswer& answer) {
  for (const Suspects& set : sets) {
    if (set.size() == 1 && answer.left.size() < kMostLeft) {
      answer.left.push_back(named(all, set).front());
    }
  }
}

/// Hosts among which the bad one is, as far as it is one: all slow runs have them.
HostSet hosts_in_question(const NumberedRuns& all) {
  HostSet hosts;
  for (size_t n = 0; n < all.hosts.size(); ++n) hosts.set(n);
  for (const NumberedRun& run : all.runs) {
    const bool told = all.groups[run.group].told;
    if (told && run.pace == Pace::Slow) hosts &= run.hosts;
  }
  return hosts;
}

/// Nothing is clearly slow beside its like.
void judge_alike(const NumberedRuns& all, const Suspects& possible, NodeSetAnswer& answer) {
  const bool all_good = std::ranges::all_of(all.groups, &RunGroup::told);
  if (all_good) {
    answer.why = "No run is slow.";
    return;
  }
  std::vector<Suspects> sets = {{}};
  for (const NumberedSuspect& suspect : possible) {
    if (explain(all, {&suspect, 1})) sets.push_back({suspect});
  }
  if (sets.size() > 1) answer.next = next_runs(all, sets, doubts_of(all, possible, sets));
  // While further runs may show that nothing is slow, nobody is suspected.
  if (answer.next.empty()) list_left(all, sets, answer);
  const std::string alone =
      all.runs.size() == 1 ? "One run has nothing to be compared with."
                           : "Runs that can be compared are alike: either all or none is slow.";
  if (sets.size() == 1) {
    answer.why = alone + " No single host, link or rail is slower than the others.";
  } else if (answer.next.empty()) {
    answer.why = fmt::format("{} If they are slow, it is {}, or everything is.", alone,
                             lefts_text(answer.left, sets.size() - 1));
  } else {
    answer.why = fmt::format("{} {}", alone, next_text(answer.next));
  }
}

/// The smallest explanations are `sets`, at least one.
void judge_sets(const NumberedRuns& all, const Suspects& possible,
                const std::vector<Suspects>& sets, size_t slow, size_t compared,
                NodeSetAnswer& answer) {
  const std::string_view many =
      sets.front().size() > 1 ? "More than one host, link or rail is bad: no single one explains "
                                "the slow runs. "
                              : "";
  if (sets.size() > 1) {
    const bool any_differ = std::ranges::any_of(all.groups, &RunGroup::differ);
    list_left(all, sets, answer);
    answer.next = next_runs(all, sets, doubts_of(all, possible, sets));
    const std::string_view as_far =
        any_differ ? "It is "
                   : "No like run is fast. If one host, link or rail is to blame, it is ";
    const std::string what =
        many.empty() ? std::string(as_far) + lefts_text(answer.left, sets.size())
                     : fmt::format("{} sets of {} would", sets.size(), sets.front().size());
    answer.why = fmt::format("Not yet: {}{}. {}", many, what, next_text(answer.next));
    // What all hosts have in common explains a slow run as well.
    if (!any_differ) answer.left.clear();
    return;
  }
  const auto around = ways_around(all, possible, sets.front());
  if (around && around->empty()) {
    answer.explained = named(all, sets.front());
    answer.why = std::string(many) + found_text(all, sets.front(), slow, compared);
    return;
  }
  std::vector<Suspects> to_divide = sets;
  if (around) to_divide.insert(to_divide.end(), around->begin(), around->end());
  list_left(all, sets, answer);
  answer.next = next_runs(all, to_divide);
  answer.why = fmt::format("Not yet: {}it is {}, unless {} hosts, links or rails are bad. {}", many,
                           suspects_text(named(all, sets.front()), " and "),
                           sets.front().size() + 1, next_text(answer.next));
}

// Groups of hosts: what joins them, or what their members have in common.

/// The hosts that fast runs join, as groups; hosts of no fast run are none.
std::vector<HostSet> groups_by_fast_runs(const NumberedRuns& all) {
  std::vector<HostSet> groups;
  for (const NumberedRun& run : all.runs) {
    if (!all.groups[run.group].told || run.pace != Pace::Fast || run.inside) continue;
    HostSet joined = run.hosts;
    std::erase_if(groups, [&](const HostSet& group) {
      const bool meets = (group & joined).any();
      if (meets) joined |= group;
      return meets;
    });
    groups.push_back(joined);
  }
  return groups;
}

std::vector<std::string> names_of(const NumberedRuns& all, const HostSet& hosts) {
  std::vector<std::string> names;
  for (size_t n = 0; n < all.hosts.size(); ++n) {
    if (hosts.test(n)) names.push_back(all.hosts[n]);
  }
  return names;
}

/// Two groups of hosts, fast in themselves, and slow whenever hosts of both take part: four such
/// pairs over different hosts are no chance.
bool judge_uplink(const NumberedRuns& all, NodeSetAnswer& answer) {
  constexpr size_t kLeastRuns = 4;
  const std::vector<HostSet> groups = groups_by_fast_runs(all);
  if (groups.size() != 2 || groups[0].count() < 2 || groups[1].count() < 2) return false;
  size_t across = 0;
  for (const NumberedRun& run : all.runs) {
    if (!all.groups[run.group].told || run.pace != Pace::Slow) continue;
    const size_t either =
        std::min((run.hosts & groups[0]).count(), (run.hosts & groups[1]).count());
    if (either == 0) return false;
    across += std::min<size_t>(either, 2);  // Of pairs across, whichever hosts they are.
  }
  if (across < kLeastRuns) return false;
  answer.explained = {{SuspectKind::Uplink, join(names_of(all, groups[0]), " "),
                       join(names_of(all, groups[1]), " "), ""}};
  answer.why =
      fmt::format("{} of {} {} slow: those that join the two groups, and no other.",
                  answer.slow.size(), plural(answer.slow.size() + answer.fast.size(), "run"),
                  answer.slow.size() == 1 ? "is" : "are");
  return true;
}

/// Every run with one of some hosts is slow, and none without.
bool judge_many_hosts(const NumberedRuns& all, NodeSetAnswer& answer) {
  HostSet fast;
  HostSet slow;
  for (const NumberedRun& run : all.runs) {
    if (!all.groups[run.group].told || run.pace == Pace::Unclear) continue;
    (run.pace == Pace::Fast ? fast : slow) |= run.hosts;
  }
  const HostSet bad = slow & ~fast;
  const bool explains = std::ranges::all_of(all.runs, [&](const NumberedRun& run) {
    const bool is_slow = all.groups[run.group].told && run.pace == Pace::Slow;
    return !is_slow || (run.hosts & bad).any();
  });
  if (!explains || bad.none() || fast.none()) return false;
  for (const std::string& host : names_of(all, bad)) {
    if (answer.left.size() < kMostLeft) answer.left.push_back({SuspectKind::Host, host, "", ""});
  }
  answer.why = fmt::format(
      "More than {} hosts, links or rails are bad: no run with {} is fast, and none without is "
      "slow. Look at what these hosts have in common.",
      kMostBad, list_of(names_of(all, bad), "or"));
  return true;
}

void judge_all(const NumberedRuns& all, NodeSetAnswer& answer) {
  const auto suspects = possible_suspects(all, kMostSuspects);
  const size_t slow = answer.slow.size();
  const size_t compared = slow + answer.fast.size();
  if (!suspects) {
    answer.next = halves_of(all, hosts_in_question(all));
    answer.why = fmt::format("{} {}",
                             slow == 0 ? "These runs have nothing to be compared with."
                                       : "Not yet: too many hosts are in question.",
                             next_text(answer.next));
    return;
  }
  const Suspects& possible = *suspects;
  if (slow == 0) return judge_alike(all, possible, answer);
  Explanations explanations;
  for (size_t size = 1; size <= kMostBad; ++size) {
    find_explanations(all, possible, size, nullptr, explanations);
    const std::vector<Suspects> sets(explanations.found.begin(), explanations.found.end());
    if (!sets.empty()) return judge_sets(all, possible, sets, slow, compared, answer);
    if (size == 1 && judge_uplink(all, answer)) return;
    if (explanations.gave_up()) break;
  }
  if (judge_many_hosts(all, answer)) return;
  answer.why = explanations.gave_up()
                   ? "More than one host, link or rail is bad, and these runs do not show which."
                   : "No few hosts, links or rails explain these runs: much is bad, or something "
                     "comes and goes.";
}

}  // namespace

std::string suspect_text(const Suspect& suspect) {
  if (suspect.kind == SuspectKind::Host) return "host " + suspect.host;
  if (suspect.kind == SuspectKind::Link) {
    return fmt::format("the link between {} and {}", suspect.host, suspect.other);
  }
  if (suspect.kind == SuspectKind::Uplink) {
    return fmt::format("what joins {} and {}", suspect.host, suspect.other);
  }
  return suspect.host.empty() ? suspect.rail + " of all hosts"
                              : fmt::format("{} of host {}", suspect.rail, suspect.host);
}

std::string suspects_text(const std::vector<Suspect>& suspects, std::string_view between) {
  std::vector<std::string> texts;
  for (const Suspect& suspect : suspects) texts.push_back(suspect_text(suspect));
  return join(texts, between);
}

std::string run_text(const NodeSetRun& run) {
  std::string text = join(run.hosts, " ");
  if (run.hosts.size() == 1) text += " over its NICs (another NCCL_HOSTID for each rank)";
  if (!run.rail.empty()) text += fmt::format(" with {} alone", run.rail);
  return text;
}

std::string_view node_set_limits() {
  return "Runs are held against those of the same operation, ranks, hosts, GPUs, settings and "
         "sizes: 77 % of the best or less is slow, 87 % or more is fast, and what lies between "
         "says nothing. Up to three hosts, links or rails that are bad at once are told apart, and "
         "two groups of hosts with a slow uplink; one bad host takes three runs or more.";
}

NodeSetAnswer solve_node_sets(const std::vector<NodeSetRun>& runs) {
  NodeSetAnswer answer;
  const NumberedRuns all = number_runs(runs);
  if (all.runs.empty()) {
    answer.why = "No run names its hosts and a bandwidth.";
    return answer;
  }
  list_runs(all, answer);
  find_lowest(all, answer);
  if (all.flaky.size() == runs.size()) {
    answer.why = "Runs over the same hosts differ: what slows some of them comes and goes.";
    return answer;
  }
  judge_all(all, answer);
  if (all.hosts.size() == 2 && !answer.next.empty()) {
    answer.why += " A third host, with each of the two in turn, tells as much.";
  }
  if (!all.flaky.empty()) {
    answer.why += fmt::format(" Repetitions differ and are left out: {}.", join(all.flaky, ", "));
  }
  return answer;
}

}  // namespace ncclog
