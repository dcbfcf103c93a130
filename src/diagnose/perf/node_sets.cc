#include "diagnose/perf/node_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "diagnose/perf/node_trials.h"

namespace ncclog {
namespace {

constexpr size_t kMostThings = 3000;  ///< All hosts, links and rails of about 40 hosts of 8 NICs.
constexpr size_t kMostBad = 3;        ///< Things that are looked for together.
constexpr size_t kMostSets = 300;     ///< Explanations that are told apart by further runs.
constexpr size_t kMostSteps = 200'000;
constexpr size_t kMostLeft = 12;

/// Finds the sets of things that explain all trials: each trial that must be slow has a thing that
/// makes it so, and sets grow by whatever would explain the first trial that lacks one.
class Explanations {
 public:
  Explanations(const NodeTrials& all, const Things& possible) : all_(all), possible_(possible) {}

  /// Up to kMostSets of at most `size` things that `allowed` lets pass, sorted. None that holds
  /// another one's things and more.
  template <typename Allowed>
  std::vector<Things> of_size(size_t size, Allowed allowed) {
    found_.clear();
    Things chosen;
    grow(chosen, size, allowed);
    return {found_.begin(), found_.end()};
  }

  bool gave_up() const { return steps_ > kMostSteps || found_.size() >= kMostSets; }

 private:
  template <typename Allowed>
  void grow(Things& chosen, size_t size, Allowed& allowed) {
    if (++steps_ > kMostSteps || found_.size() >= kMostSets) return;
    const Trial* missing = unexplained_by(all_, chosen);
    if (missing == nullptr) {
      if (!explain(all_, chosen)) return;
      Things sorted = chosen;
      std::ranges::sort(sorted);
      found_.insert(std::move(sorted));
      return;
    }
    if (chosen.size() == size) return;
    for (const Thing& thing : possible_) {
      if (!slows(thing, *missing) || !allowed(thing)) continue;
      if (std::ranges::count(chosen, thing) > 0) continue;
      chosen.push_back(thing);
      grow(chosen, size, allowed);
      chosen.pop_back();
    }
  }

  const NodeTrials& all_;
  const Things& possible_;
  std::set<Things> found_;
  size_t steps_ = 0;
};

/// Whether blaming `other` comes to the same as blaming `thing`: a NIC of the bad host.
bool is_part_of(const Thing& other, const Thing& thing) {
  if (other == thing) return true;
  return thing.kind == SuspectKind::Host && other.kind == SuspectKind::Rail &&
         other.host == thing.host;
}

/// Explanations of one thing more that do without one of `answer`. nullopt: too many to look at.
std::optional<std::vector<Things>> ways_around(const NodeTrials& all, const Things& possible,
                                               const Things& answer) {
  std::vector<Things> ways;
  for (const Thing& thing : answer) {
    Explanations others(all, possible);
    const auto found = others.of_size(
        answer.size() + 1, [&](const Thing& other) { return !is_part_of(other, thing); });
    if (others.gave_up()) return std::nullopt;
    for (const Things& way : found) {
      // The same rail of every host is the rail of all hosts.
      const bool is_everywhere =
          thing.kind == SuspectKind::Rail && thing.host < 0 && way.size() == all.hosts.size() &&
          std::ranges::all_of(way, [&](const Thing& each) { return each.rail == thing.rail; });
      if (!is_everywhere) ways.push_back(way);
    }
  }
  return ways;
}

/// Explanations of one thing more than the last of `sets`, where so few are left that it counts for
/// the next runs.
std::vector<Things> doubts_of(const NodeTrials& all, const Things& possible,
                              const std::vector<Things>& sets) {
  constexpr size_t kFewSets = 6;
  constexpr size_t kFewThings = 120;
  std::vector<Things> doubts;
  const auto is_rail = [](const Things& set) {
    return !set.empty() && set.front().kind == SuspectKind::Rail;
  };
  // One round tells all rails apart.
  if (sets.size() - static_cast<size_t>(std::ranges::count_if(sets, is_rail)) > kFewSets) {
    return doubts;
  }
  if (sets.front().empty()) {
    // Nothing need be bad, so nothing leads to what else may be.
    for (size_t a = 0; a < possible.size() && possible.size() <= kFewThings; ++a) {
      for (size_t b = a + 1; b < possible.size(); ++b) {
        Things pair = {possible[a], possible[b]};
        if (explain(all, pair)) doubts.push_back(std::move(pair));
      }
    }
    return doubts;
  }
  doubts = Explanations(all, possible).of_size(sets.back().size() + 1, [](const Thing&) {
    return true;
  });
  std::erase_if(doubts, [&](const Things& doubt) { return std::ranges::count(sets, doubt) > 0; });
  return doubts;
}

// Words.

std::string things_text(const NodeTrials& all, const Things& things) {
  std::vector<std::string> parts;
  for (const Thing& thing : things) parts.push_back(suspect_text(suspect_of(all, thing)));
  return join(parts, " and ");
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

std::string next_text(const std::vector<NextRun>& next) {
  if (next.empty()) return "No run over these hosts would tell them apart.";
  std::vector<std::string> parts;
  std::map<std::vector<std::string>, std::vector<std::string>> rails;
  for (const NextRun& run : next) rails[run.hosts].push_back(run.rail);
  for (const NextRun& run : next) {
    std::vector<std::string>& of = rails[run.hosts];
    if (of.empty()) continue;
    parts.push_back(of.size() == 1 ? run_text(run)
                                   : fmt::format("{} once with each of {} alone",
                                                 run_text({.hosts = run.hosts, .rail = ""}),
                                                 list_of(of, "and")));
    of.clear();
  }
  const bool at_once = next.size() > 1;
  return fmt::format("Run {}{}.", list_of(parts, "and"), at_once ? ", which may go at once" : "");
}

/// What is said of the thing that was found.
std::string found_text(const NodeTrials& all, const Things& answer, size_t slow, size_t compared) {
  std::string text =
      fmt::format("{} of {} {} slow, and just {} {}.", slow,
                  plural(static_cast<int64_t>(compared), "run"), slow == 1 ? "is" : "are",
                  slow == 1 ? "this one has" : "these have", things_text(all, answer));
  if (all.hosts.size() == 2) text += " No third host shows whether all pairs are as slow.";
  for (const Thing& thing : answer) {
    if (thing.kind != SuspectKind::Host) continue;
    const std::vector<int>& rails = all.rails_of[static_cast<size_t>(thing.host)];
    const std::string& host = all.hosts[static_cast<size_t>(thing.host)];
    if (rails.empty()) {
      text += fmt::format(
          " It may be one NIC of {}: runs with one NIC at a time (NCCL_IB_HCA) would show that.",
          host);
    } else if (rails.size() == 1) {
      text += fmt::format(" Of {} only {} was used.", host,
                          all.rails[static_cast<size_t>(rails.front())]);
    }
  }
  return text;
}

void list_runs(const NodeTrials& all, NodeSetAnswer& answer) {
  for (const Trial& trial : all.trials) {
    const bool told = all.groups[static_cast<size_t>(trial.group)].told;
    std::vector<std::string>& names = !told || trial.pace == Pace::Unclear ? answer.unclear
                                      : trial.pace == Pace::Fast           ? answer.fast
                                                                           : answer.slow;
    names.insert(names.end(), trial.names.begin(), trial.names.end());
  }
}

void list_left(const NodeTrials& all, const std::vector<Things>& sets, NodeSetAnswer& answer) {
  for (const Things& set : sets) {
    if (set.size() == 1 && answer.left.size() < kMostLeft) {
      answer.left.push_back(suspect_of(all, set.front()));
    }
  }
}

/// Hosts among which the bad thing is, as far as it is one: all slow runs have them.
HostSet hosts_in_question(const NodeTrials& all) {
  HostSet hosts;
  for (size_t n = 0; n < all.hosts.size(); ++n) hosts.set(n);
  for (const Trial& trial : all.trials) {
    const bool told = all.groups[static_cast<size_t>(trial.group)].told;
    if (told && trial.pace == Pace::Slow) hosts &= trial.hosts;
  }
  return hosts;
}

/// Nothing is clearly slow beside its like.
void judge_alike(const NodeTrials& all, const Things& possible, NodeSetAnswer& answer) {
  const bool all_good = std::ranges::all_of(all.groups, &TrialGroup::told);
  if (all_good) {
    answer.why = "No run is slow.";
    return;
  }
  std::vector<Things> sets = {{}};
  for (const Thing& thing : possible) {
    if (explain(all, {&thing, 1})) sets.push_back({thing});
  }
  if (sets.size() > 1) answer.next = next_runs(all, sets, doubts_of(all, possible, sets));
  // While further runs may show that nothing is slow, nobody is suspected.
  if (answer.next.empty()) list_left(all, sets, answer);
  const std::string alone =
      all.trials.size() == 1 ? "One run has nothing to be compared with."
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
void judge_sets(const NodeTrials& all, const Things& possible, const std::vector<Things>& sets,
                size_t slow, size_t compared, NodeSetAnswer& answer) {
  const std::string_view many =
      sets.front().size() > 1 ? "More than one thing is bad: no single host, link or rail explains "
                                "the slow runs. "
                              : "";
  if (sets.size() > 1) {
    const bool any_differ = std::ranges::any_of(all.groups, &TrialGroup::differ);
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
    for (const Thing& thing : sets.front()) answer.explained.push_back(suspect_of(all, thing));
    answer.why = std::string(many) + found_text(all, sets.front(), slow, compared);
    return;
  }
  std::vector<Things> to_divide = sets;
  if (around) to_divide.insert(to_divide.end(), around->begin(), around->end());
  list_left(all, sets, answer);
  answer.next = next_runs(all, to_divide);
  answer.why =
      fmt::format("Not yet: {}it is {}, unless {} things are bad. {}", many,
                  things_text(all, sets.front()), sets.front().size() + 1, next_text(answer.next));
}

void judge_all(const NodeTrials& all, NodeSetAnswer& answer) {
  const auto things = possible_things(all, kMostThings);
  const size_t slow = answer.slow.size();
  const size_t compared = slow + answer.fast.size();
  if (!things) {
    answer.next = halves_of(all, hosts_in_question(all));
    answer.why = fmt::format("{} {}",
                             slow == 0 ? "These runs have nothing to be compared with."
                                       : "Not yet: too many hosts are in question.",
                             next_text(answer.next));
    return;
  }
  const Things& possible = *things;
  if (slow == 0) return judge_alike(all, possible, answer);
  Explanations explanations(all, possible);
  for (size_t size = 1; size <= kMostBad; ++size) {
    const auto sets = explanations.of_size(size, [](const Thing&) { return true; });
    if (!sets.empty()) return judge_sets(all, possible, sets, slow, compared, answer);
    if (explanations.gave_up()) break;
  }
  answer.why = explanations.gave_up()
                   ? "More than one thing is bad, and these runs do not show which."
                   : "No few hosts, links or rails explain these runs: much is bad, or something "
                     "comes and goes.";
}

}  // namespace

std::string_view to_string(SuspectKind kind) {
  constexpr std::string_view kNames[] = {"host", "link", "rail"};
  return kNames[static_cast<size_t>(kind)];
}

std::string suspect_text(const Suspect& suspect) {
  if (suspect.kind == SuspectKind::Host) return "host " + suspect.host;
  if (suspect.kind == SuspectKind::Link) {
    return fmt::format("the link between {} and {}", suspect.host, suspect.other);
  }
  return suspect.host.empty() ? suspect.rail + " of all hosts"
                              : fmt::format("{} of host {}", suspect.rail, suspect.host);
}

std::string run_text(const NextRun& run) {
  std::string text = join(run.hosts, " ");
  if (run.hosts.size() == 1) text += " over its NICs (another NCCL_HOSTID for each rank)";
  if (!run.rail.empty()) text += fmt::format(" with {} alone", run.rail);
  return text;
}

NodeSetAnswer solve_node_sets(const std::vector<NodeSetRun>& runs) {
  NodeSetAnswer answer;
  const NodeTrials all = read_trials(runs);
  if (all.trials.empty()) {
    answer.why = "No run names its hosts and a bandwidth.";
    return answer;
  }
  list_runs(all, answer);
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
