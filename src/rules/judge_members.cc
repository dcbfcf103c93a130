// For how many members of a set does something hold, and do they agree?
//
//   rank 1 of 4 fell back from cuMem, ranks 0, 2 and 3 provably not     some_but_not_all, outlier
//   NCCL_ALGO is Ring on rank 0 and Tree on ranks 1-3                   differs
//
// Members of several runs are never compared. A set of which members may be unseen proves that some
// do and some do not, but neither that all do nor that none does.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/facts/fact.h"
#include "diagnose/settings/job_settings.h"
#include "rules/judge.h"

namespace ncclog {
namespace {

/// Members by their answer.
struct Tally {
  std::vector<const Instance*> yes;
  std::vector<const Instance*> no;
  std::vector<const Instance*> unknown;
  Proof complete;  ///< Whether there are no other members.

  bool all_known() const { return complete.holds && unknown.empty(); }
};

Answer judge_outlier(const Tally& tally) {
  constexpr size_t kFewestAlike = 3;
  constexpr size_t kLeastTimesAsMany = 4;
  if (tally.yes.empty()) return tally.all_known() ? Answer::No : Answer::Unknown;
  const size_t all = tally.yes.size() + tally.no.size() + tally.unknown.size();
  // Those of whom nothing is known count as odd ones: even so they must stay few.
  const size_t most_odd = tally.yes.size() + tally.unknown.size();
  const bool few_at_most = tally.complete.holds && most_odd * kLeastTimesAsMany <= all;
  if (few_at_most && tally.no.size() >= kFewestAlike) return Answer::Yes;
  return tally.all_known() ? Answer::No : Answer::Unknown;
}

Answer judge_hold(const AmongCondition& among, const Tally& tally) {
  switch (among.hold) {
    case Hold::All:
      if (!tally.no.empty()) return Answer::No;
      if (!tally.all_known()) return Answer::Unknown;
      return tally.yes.empty() ? Answer::No : Answer::Yes;
    case Hold::None:
      if (!tally.yes.empty()) return Answer::No;
      return tally.all_known() ? Answer::Yes : Answer::Unknown;
    case Hold::SomeButNotAll:
      if (!tally.yes.empty() && !tally.no.empty()) return Answer::Yes;
      return tally.all_known() ? Answer::No : Answer::Unknown;
    case Hold::Outlier:
      return judge_outlier(tally);
    case Hold::Count:
      return judge_count(among.count, static_cast<int64_t>(tally.yes.size()), tally.all_known());
  }
  return Answer::Unknown;
}

/// "ranks 0-2", "node-a, node-b"
std::string names_of(const Job& job, const std::vector<const Instance*>& members) {
  constexpr size_t kMostNames = 4;
  std::vector<int> ranks;
  std::vector<std::string> names;
  for (const Instance* member : members) {
    const bool is_one =
        member->scope == Scope::Process || (member->scope == Scope::Rank && member->rank >= 0);
    const int rank =
        is_one ? job.processes[static_cast<size_t>(member->processes.front())].rank : -1;
    if (rank >= 0) ranks.push_back(rank);
    names.push_back(name_of(job, *member));
  }
  if (ranks.size() == members.size()) return ranks_phrase(ranks);
  const size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

/// "rank 1 does, ranks 0, 2-3 do not"
std::string tally_phrase(const Job& job, const Tally& tally) {
  std::vector<std::string> parts;
  const auto add = [&](const auto& members, std::string_view one, std::string_view several) {
    if (members.empty()) return;
    parts.push_back(
        fmt::format("{} {}", names_of(job, members), members.size() == 1 ? one : several));
  };
  add(tally.yes, "does", "do");
  add(tally.no, "does not", "do not");
  add(tally.unknown, "is not known", "are not known");
  if (!tally.complete.holds) parts.push_back(tally.complete.gap);
  return join(parts, ", ");
}

/// "Ring on rank 0 and Tree on ranks 1-3"; the larger camp first.
std::string camps_phrase(const Job& job,
                         const std::map<std::string, std::vector<const Instance*>>& camps) {
  std::vector<std::pair<size_t, std::string>> parts;
  for (const auto& [value, members] : camps) {
    parts.push_back({members.size(), fmt::format("{} on {}", value, names_of(job, members))});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (auto& [size, text] : parts) texts.push_back(std::move(text));
  return join(texts, " and ");
}

std::vector<int> processes_of(const std::vector<const Instance*>& members) {
  std::set<int> processes;
  for (const Instance* member : members) {
    processes.insert(member->processes.begin(), member->processes.end());
  }
  return {processes.begin(), processes.end()};
}

bool is_within(const Instance& member, const std::vector<int>& processes) {
  if (member.processes.empty() || processes.empty()) return false;
  const bool may_be =
      processes.front() <= member.processes.front() && member.processes.back() <= processes.back();
  return may_be && std::includes(processes.begin(), processes.end(), member.processes.begin(),
                                 member.processes.end());
}

/// Lines that name neither host nor rank are no members: they may be anybody's.
bool is_somebody(const Job& job, const Instance& member) {
  if (member.scope == Scope::Host) return !member.host.empty();
  return std::any_of(member.processes.begin(), member.processes.end(), [&](int p) {
    const Process& process = job.processes[static_cast<size_t>(p)];
    return process.rank >= 0 || (process.has_nccl && process.pid >= 0);
  });
}

/// The instance's processes, run by run.
std::vector<std::vector<int>> by_run(const Job& job, const Instance& instance) {
  if (job.runs.empty()) return {instance.processes};
  std::vector<std::vector<int>> result;
  for (const Run& run : job.runs) {
    std::vector<int> processes;
    std::set_intersection(instance.processes.begin(), instance.processes.end(),
                          run.processes.begin(), run.processes.end(),
                          std::back_inserter(processes));
    if (!processes.empty()) result.push_back(std::move(processes));
  }
  return result;
}

}  // namespace

std::vector<RuleJudge::Members> RuleJudge::sets_of(const Instance& instance,
                                                   std::optional<Scope> in, Scope member) {
  const Job& job = view_.job();
  std::vector<const Instance*> outer = {&instance};
  if (in && *in != instance.scope) {
    const Instance* around = view_.instance_around(instance.processes, *in);
    outer.clear();
    if (around != nullptr) outer.push_back(around);
    for (const Instance& candidate : view_.instances(*in)) {
      if (around == nullptr && is_within(candidate, instance.processes)) {
        outer.push_back(&candidate);
      }
    }
  }
  std::vector<Members> sets;
  for (const Instance* set : outer) {
    Proof complete = all_are_there(job, *set);
    if (!job.runs.empty()) complete = {false, "the logs hold several runs"};
    for (const std::vector<int>& processes : by_run(job, *set)) {
      Members members{{}, complete};
      for (const Instance& candidate : view_.instances(member)) {
        if (is_within(candidate, processes) && is_somebody(job, candidate)) {
          members.all.push_back(&candidate);
        }
      }
      if (!members.all.empty()) sets.push_back(std::move(members));
    }
  }
  return sets;
}

Answer RuleJudge::judge_set(const AmongCondition& among, const Members& members,
                            std::vector<Hit>& hits) {
  Tally tally;
  tally.complete = members.complete;
  if (absence_is_unknown_) tally.complete = {false, "the log lacks lines that the rule needs"};
  std::vector<Hit> of_members;
  for (const Instance* member : members.all) {
    const Answer answer = judge(among.what.front(), *member, of_members);
    auto& same = answer == Answer::Yes  ? tally.yes
                 : answer == Answer::No ? tally.no
                                        : tally.unknown;
    same.push_back(member);
  }
  const Answer answer = judge_hold(among, tally);
  if (answer == Answer::Unknown) reason_ = tally_phrase(view_.job(), tally);
  if (answer != Answer::Yes) return answer;
  const bool names_odd_ones = among.hold == Hold::SomeButNotAll || among.hold == Hold::Outlier;
  hits.push_back({.label = among.label,
                  .what = tally_phrase(view_.job(), tally),
                  .processes = names_odd_ones ? processes_of(tally.yes) : std::vector<int>{}});
  if (among.hold == Hold::None) return answer;
  std::move(of_members.begin(), of_members.end(), std::back_inserter(hits));
  return answer;
}

Answer RuleJudge::judge(const AmongCondition& among, const Instance& instance,
                        std::vector<Hit>& hits) {
  // The answers for single members would drown the others.
  JudgedConditions* const steps = std::exchange(steps_, nullptr);
  const bool before = std::exchange(absence_needs_proof_, true);
  Answer answer = absence_is_unknown_ ? Answer::Unknown : Answer::No;
  const std::vector<Members> sets = sets_of(instance, among.in, among.among);
  std::string reason = "no member of the set is in the log";
  if (sets.empty()) answer = Answer::Unknown;
  for (const Members& members : sets) {
    const Answer of_set = judge_set(among, members, hits);
    if (of_set == Answer::Unknown) reason = reason_;
    answer = std::max(answer, of_set);
  }
  absence_needs_proof_ = before;
  steps_ = steps;
  if (answer == Answer::Unknown) return unknown_because([&] { return reason; });
  return answer;
}

RuleJudge::MemberValue RuleJudge::value_of(const DiffersCondition& differs, const Instance& member,
                                           const SettingValues& settings) {
  MemberValue value;
  if (differs.fact != nullptr) {
    const Instance* about = differs.fact->scope == member.scope
                                ? &member
                                : view_.instance_around(member.processes, differs.fact->scope);
    if (about == nullptr) return value;
    const FactValue& known = view_.fact(*differs.fact, *about);
    value.known = known.known();
    value.text = fact_text(known);
    return value;
  }
  const Matches& found = matches(*differs.line);
  std::set<std::string> texts;
  for (const int process : member.processes) {
    for (const ReadRecord* read : of_process(found.records, process)) {
      if (value.line == nullptr) value.line = read;
      if (differs.variable.empty()) texts.insert(field_text(view_.job(), *read, differs.field));
    }
    const bool more =
        holds(found.open, process) || view_.job().processes[static_cast<size_t>(process)].torn;
    if (more) return {};
    for (const auto& [text, processes] : settings) {
      if (holds(processes, process)) texts.insert(text.empty() ? "not set" : text);
    }
  }
  texts.erase("");
  value.known = !texts.empty();
  value.text = join(std::vector<std::string>(texts.begin(), texts.end()), " and ");
  return value;
}

Answer RuleJudge::judge_difference(const DiffersCondition& differs, const Members& members,
                                   const SettingValues& settings, std::vector<Hit>& hits) {
  std::map<std::string, std::vector<const Instance*>> camps;
  std::map<std::string, std::vector<int>> numbers;
  std::map<std::string, const ReadRecord*> lines;
  std::vector<const Instance*> silent;
  for (size_t i = 0; i < members.all.size(); ++i) {
    const Instance* member = members.all[i];
    MemberValue value = value_of(differs, *member, settings);
    if (!value.known) {
      silent.push_back(member);
      continue;
    }
    if (value.line != nullptr) lines.try_emplace(value.text, value.line);
    camps[value.text].push_back(member);
    numbers[value.text].push_back(static_cast<int>(i));
  }
  if (camps.size() < 2) {
    const bool all_known = silent.empty() && members.complete.holds && !absence_is_unknown_;
    if (all_known) return Answer::No;
    return unknown_because([&] {
      return silent.empty() ? members.complete.gap
                            : "the value is not known of " + names_of(view_.job(), silent);
    });
  }
  Hit hit{.label = differs.label, .what = differs.name.substr(differs.name.find('.') + 1) + " is "};
  for (const auto& [text, read] : lines) hit.records.push_back(read);
  hit.what += camps_phrase(view_.job(), camps);
  std::vector<const Instance*> odd;
  for (const int i : minority(numbers)) odd.push_back(members.all[static_cast<size_t>(i)]);
  hit.processes = processes_of(odd);
  hit.inside = false;
  hits.push_back(std::move(hit));
  return Answer::Yes;
}

Answer RuleJudge::judge(const DiffersCondition& differs, const Instance& instance,
                        std::vector<Hit>& hits) {
  const SettingValues settings =
      differs.variable.empty() ? SettingValues{} : setting_values(view_.job(), differs.variable);
  const std::vector<Members> sets = sets_of(instance, differs.in, differs.across);
  if (sets.empty()) return unknown_because([] { return "no member of the set is in the log"; });
  Answer answer = Answer::No;
  for (const Members& members : sets) {
    answer = std::max(answer, judge_difference(differs, members, settings, hits));
  }
  return answer;
}

}  // namespace ncclog
