#include "replay/plan/shrink_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "replay/plan/plan.h"
#include "replay/plan/plan_frame.h"

namespace ncclog {
namespace {

bool holds(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// The communicator of which ranks are kept first: the one that stands still, else the largest; -1:
/// there is none.
int central_communicator(const ReplayPlan& plan) {
  if (plan.hypothesis.front) return plan.hypothesis.front->communicator;
  const auto largest = std::max_element(
      plan.communicators.begin(), plan.communicators.end(),
      [](const auto& a, const auto& b) { return a.ranks.size() < b.ranks.size(); });
  return largest == plan.communicators.end()
             ? -1
             : static_cast<int>(largest - plan.communicators.begin());
}

/// Ranks of the plan that are roots of the collective at the front, of the clean run first.
std::vector<int> roots_at_front(const ReplayPlan& plan) {
  std::vector<int> roots;
  if (!plan.hypothesis.front || plan.hypothesis.kind == DefectKind::Message) return roots;
  const FrontLine& front = *plan.hypothesis.front;
  const auto& members = plan.communicators[static_cast<size_t>(front.communicator)].ranks;
  for (const MadeIn mode : {MadeIn::Clean, MadeIn::Defect}) {
    for (const PlannedRank& rank : plan.ranks) {
      for (const PlannedCall& call : calls_in(rank, mode)) {
        const bool is_meant = call.communicator == front.communicator &&
                              call.index == front.index && has_root(call.op) && call.root >= 0;
        if (!is_meant || static_cast<size_t>(call.root) >= members.size()) continue;
        const int root = members[static_cast<size_t>(call.root)];
        if (!holds(roots, root)) roots.push_back(root);
      }
    }
  }
  return roots;
}

/// Ranks chosen so far, and what tells how much another one adds to them.
struct Choice {
  const ReplayPlan& plan;
  std::vector<std::vector<int>> communicators_of;  ///< By rank.
  std::vector<int> members;                        ///< Of the central communicator.
  std::set<int> kept;
  std::set<int> hosts;          ///< Of the kept ranks.
  std::set<int> communicators;  ///< With a kept rank.
};

Choice begin_choice(const ReplayPlan& plan) {
  Choice choice{.plan = plan, .communicators_of = std::vector<std::vector<int>>(plan.ranks.size())};
  for (size_t c = 0; c < plan.communicators.size(); ++c) {
    for (const int rank : plan.communicators[c].ranks) {
      choice.communicators_of[static_cast<size_t>(rank)].push_back(static_cast<int>(c));
    }
  }
  const int central = central_communicator(plan);
  if (central >= 0) choice.members = plan.communicators[static_cast<size_t>(central)].ranks;
  return choice;
}

void keep(Choice& choice, int rank) {
  if (!choice.kept.insert(rank).second) return;
  choice.hosts.insert(choice.plan.ranks[static_cast<size_t>(rank)].host_group);
  const std::vector<int>& of_rank = choice.communicators_of[static_cast<size_t>(rank)];
  choice.communicators.insert(of_rank.begin(), of_rank.end());
}

/// The rank came to the call in question as it should.
bool is_witness(const ReplayPlan& plan, int rank) {
  const auto& front = plan.hypothesis.front;
  return front && holds(front->entered, rank) && !holds(plan.hypothesis.departed, rank);
}

bool has_witness(const Choice& choice) {
  return std::any_of(choice.kept.begin(), choice.kept.end(),
                     [&](int rank) { return is_witness(choice.plan, rank); });
}

/// Of the message in question both ends: where nobody is named, either of them may have departed.
void keep_ends(Choice& choice) {
  const Hypothesis& hypothesis = choice.plan.hypothesis;
  if (hypothesis.kind != DefectKind::Message || !hypothesis.front) return;
  for (const std::vector<int>* ends : {&hypothesis.front->missing, &hypothesis.front->entered}) {
    if (!ends->empty()) keep(choice, ends->front());
  }
}

void keep_departed(Choice& choice, size_t most) {
  for (const int rank : choice.plan.hypothesis.departed) {
    if (choice.kept.size() < most && holds(choice.members, rank)) keep(choice, rank);
  }
}

/// Roots that the call in question names, in either run; one place is left to a rank that entered
/// it.
void keep_roots(Choice& choice, size_t most) {
  for (const int root : roots_at_front(choice.plan)) {
    const bool is_witnessed = has_witness(choice) || is_witness(choice.plan, root);
    if (choice.kept.size() + (is_witnessed ? 0 : 1) < most) keep(choice, root);
  }
}

/// Higher is better: a witness of the test, on another host, who shares communicators.
auto merit(const Choice& choice, int rank) {
  const ReplayPlan& plan = choice.plan;
  const std::vector<int>& of_rank = choice.communicators_of[static_cast<size_t>(rank)];
  const bool departed = holds(plan.hypothesis.departed, rank);
  const bool other_host = !choice.hosts.contains(plan.ranks[static_cast<size_t>(rank)].host_group);
  const auto shared = std::count_if(of_rank.begin(), of_rank.end(),
                                    [&](int c) { return choice.communicators.contains(c); });
  return std::tuple(holds(choice.members, rank), is_witness(plan, rank), !departed, other_host,
                    shared, -rank);
}

int best_of_the_others(const Choice& choice) {
  int chosen = -1;
  for (int rank = 0; rank < static_cast<int>(choice.plan.ranks.size()); ++rank) {
    if (choice.kept.contains(rank)) continue;
    if (chosen < 0 || merit(choice, chosen) < merit(choice, rank)) chosen = rank;
  }
  return chosen;
}

}  // namespace

std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus) {
  const auto most = static_cast<size_t>(std::max(0, gpus));
  Choice choice = begin_choice(plan);
  if (most >= 2) keep_ends(choice);
  keep_departed(choice, std::max<size_t>(1, most / 2));
  keep_roots(choice, most);
  while (choice.kept.size() < std::min(most, plan.ranks.size())) {
    keep(choice, best_of_the_others(choice));
  }
  return {choice.kept.begin(), choice.kept.end()};
}

namespace {

// What a plan loses that is replayed on fewer GPUs, in the sentences of its losses.
//
//   "8 ranks are replayed by 2: every communicator is smaller, and its rings and trees are others."
//   "No kept rank made the same calls as ranks 5."

/// What went with the ranks that are not kept.
struct ShrinkLosses {
  size_t communicators = 0;
  uint64_t calls = 0;     ///< On them.
  uint64_t messages = 0;  ///< To and from ranks that are not kept.
  uint64_t roots = 0;     ///< Calls whose root became another rank.
  /// Ranks of the job that no kept rank stands for; -1: one that is not known.
  std::vector<int> alone;
};

/// "1 call", "2 calls".
std::string counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string_view is_or_are(uint64_t number) { return number == 1 ? "is" : "are"; }

std::string alone_sentence(std::vector<int> ranks) {
  std::erase(ranks, -1);
  return fmt::format(
      "No kept rank made the same calls as {}.",
      ranks.empty() ? "some that are left out" : "ranks " + ranges_text(std::move(ranks)));
}

std::string communicators_sentence(const ShrinkLosses& losses, const ReplayPlan& plan) {
  return fmt::format(
      "{} of {} communicators are not made, because fewer than two of their ranks are kept; {} on "
      "them {} left out.",
      losses.communicators, plan.communicators.size(), counted(losses.calls, "call"),
      is_or_are(losses.calls));
}

/// One sentence each, of the whole plan and the number of ranks that are kept.
std::vector<std::string> loss_sentences(const ShrinkLosses& losses, const ReplayPlan& plan,
                                        size_t kept) {
  std::vector<std::string> sentences;
  sentences.push_back(
      fmt::format("{} ranks are replayed by {}: every communicator is smaller, and its rings and "
                  "trees are others.",
                  plan.ranks.size(), kept));
  if (!losses.alone.empty()) sentences.push_back(alone_sentence(losses.alone));
  if (losses.communicators > 0) sentences.push_back(communicators_sentence(losses, plan));
  if (losses.messages > 0) {
    sentences.push_back(fmt::format("{} to or from ranks that are not kept {} left out.",
                                    counted(losses.messages, "message"),
                                    is_or_are(losses.messages)));
  }
  if (losses.roots > 0) {
    sentences.push_back(
        fmt::format("The root of {} is not kept: the lowest kept rank takes its part.",
                    counted(losses.roots, "call")));
  }
  return sentences;
}

// What is left of a plan when only some of its ranks are kept.
//
//   ranks 0 and 5 of 8   → they become 0 and 1, and rank 0 stands for the six that made its calls
//
// Calls keep their order and their numbers. Communicators with fewer than two kept ranks go, with
// their calls; so do messages to ranks that are not kept; a root that is not kept becomes the
// lowest rank. What is lost is among the plan's losses.

/// What ranks and communicators that are kept are called in the smaller plan, by their old number.
struct NewNumbers {
  std::map<int, int> ranks;
  std::map<int, int> communicators;
};

/// A plan that becomes smaller.
struct Shrinking {
  const ReplayPlan& plan;
  NewNumbers numbers;
  ReplayPlan result;
  ShrinkLosses losses;
};

std::vector<int> renamed(const NewNumbers& numbers, const std::vector<int>& ranks) {
  std::vector<int> result;
  for (const int rank : ranks) {
    const auto found = numbers.ranks.find(rank);
    if (found != numbers.ranks.end()) result.push_back(found->second);
  }
  return result;
}

void shrink_communicators(Shrinking& s) {
  s.result.communicators.clear();
  for (size_t c = 0; c < s.plan.communicators.size(); ++c) {
    PlannedCommunicator comm = s.plan.communicators[c];
    comm.ranks = renamed(s.numbers, comm.ranks);
    if (comm.ranks.size() < 2) {
      ++s.losses.communicators;
      continue;
    }
    if (comm.parent >= 0) comm.parent = s.numbers.communicators.at(comm.parent);
    s.numbers.communicators[static_cast<int>(c)] = static_cast<int>(s.result.communicators.size());
    s.result.communicators.push_back(std::move(comm));
  }
}

/// The number in its smaller communicator of a rank of the old one; -1: it is not kept.
int new_root(const Shrinking& s, int communicator, int root) {
  const std::vector<int>& old_ranks = s.plan.communicators[static_cast<size_t>(communicator)].ranks;
  if (root < 0 || static_cast<size_t>(root) >= old_ranks.size()) return -1;
  const auto rank = s.numbers.ranks.find(old_ranks[static_cast<size_t>(root)]);
  if (rank == s.numbers.ranks.end()) return -1;
  const int renamed_communicator = s.numbers.communicators.at(communicator);
  const std::vector<int>& ranks =
      s.result.communicators[static_cast<size_t>(renamed_communicator)].ranks;
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank->second) - ranks.begin());
}

/// False if the call goes.
bool keep_call(Shrinking& s, PlannedCall& call) {
  const auto communicator = s.numbers.communicators.find(call.communicator);
  if (communicator == s.numbers.communicators.end()) {
    ++s.losses.calls;
    return false;
  }
  const int root = new_root(s, call.communicator, call.root);
  const bool is_root_lost = call.root >= 0 && root < 0;
  if (is_root_lost && is_message(call.op)) {
    ++s.losses.messages;
    return false;
  }
  if (is_root_lost) ++s.losses.roots;
  if (call.root >= 0) call.root = std::max(0, root);
  call.communicator = communicator->second;
  return true;
}

void shrink_ranks(Shrinking& s) {
  s.result.ranks.clear();
  for (const auto& [old_rank, new_rank] : s.numbers.ranks) {
    PlannedRank rank = s.plan.ranks[static_cast<size_t>(old_rank)];
    std::vector<PlannedCall> calls;
    for (PlannedCall& call : rank.calls) {
      if (keep_call(s, call)) calls.push_back(std::move(call));
    }
    rank.left_out += rank.calls.size() - calls.size();
    rank.calls = std::move(calls);
    s.result.ranks.push_back(std::move(rank));
  }
}

void number_hosts(ReplayPlan& plan) {
  std::map<int, int> numbers;
  for (PlannedRank& rank : plan.ranks) {
    rank.host_group =
        numbers.try_emplace(rank.host_group, static_cast<int>(numbers.size())).first->second;
  }
}

/// What ranks that may stand for each other have in common.
std::string program_text(const ReplayPlan& plan, const PlannedRank& rank) {
  std::string text;
  for (const PlannedCall& call : rank.calls) {
    const auto& comm = plan.communicators[static_cast<size_t>(call.communicator)];
    text += fmt::format("{} {} {} {} {} {};", comm.recorded_nranks, call.op, call.count,
                        call.datatype, call.redop, static_cast<int>(call.made_in));
  }
  return text;
}

/// `other` is not kept, and `rank` makes its calls, too.
void let_stand_for(PlannedRank& rank, const PlannedRank& other) {
  std::vector<int>& stands_for = rank.stands_for;
  stands_for.insert(stands_for.end(), other.stands_for.begin(), other.stands_for.end());
  if (other.recorded_rank >= 0) stands_for.push_back(other.recorded_rank);
}

/// Of ranks that made the same calls the first one that is kept stands for those that are not.
void fold_alike(Shrinking& s, const std::vector<int>& ranks) {
  const auto is_kept = [&s](int rank) { return s.numbers.ranks.contains(rank); };
  const auto kept = std::find_if(ranks.begin(), ranks.end(), is_kept);
  for (const int rank : ranks) {
    if (is_kept(rank)) continue;
    const PlannedRank& old = s.plan.ranks[static_cast<size_t>(rank)];
    if (kept == ranks.end()) {
      s.losses.alone.push_back(old.recorded_rank);
    } else {
      let_stand_for(s.result.ranks[static_cast<size_t>(s.numbers.ranks.at(*kept))], old);
    }
  }
}

void fold(Shrinking& s) {
  std::map<std::string, std::vector<int>> by_program;
  for (size_t r = 0; r < s.plan.ranks.size(); ++r) {
    by_program[program_text(s.plan, s.plan.ranks[r])].push_back(static_cast<int>(r));
  }
  for (const auto& [text, ranks] : by_program) fold_alike(s, ranks);
  for (PlannedRank& rank : s.result.ranks) {
    std::sort(rank.stands_for.begin(), rank.stands_for.end());
  }
}

void shrink_hypothesis(const NewNumbers& numbers, Hypothesis& hypothesis) {
  hypothesis.departed = renamed(numbers, hypothesis.departed);
  if (!hypothesis.front) return;
  FrontLine& front = *hypothesis.front;
  front.communicator = numbers.communicators.at(front.communicator);
  front.entered = renamed(numbers, front.entered);
  front.missing = renamed(numbers, front.missing);
}

std::vector<PlannedSetting> shrunk_settings(const NewNumbers& numbers,
                                            const std::vector<PlannedSetting>& settings) {
  std::vector<PlannedSetting> result;
  for (PlannedSetting setting : settings) {
    const bool of_all = setting.ranks.empty();
    setting.ranks = renamed(numbers, setting.ranks);
    if (!of_all && setting.ranks.empty()) continue;
    if (setting.ranks.size() == numbers.ranks.size()) setting.ranks.clear();
    result.push_back(std::move(setting));
  }
  return result;
}

/// The plan of the ranks `kept` of `plan`, ascending. The communicator that stands still has to
/// keep two of them.
ReplayPlan smaller_plan(const ReplayPlan& plan, const std::vector<int>& kept) {
  Shrinking s{.plan = plan, .numbers = {}, .result = plan, .losses = {}};
  for (size_t k = 0; k < kept.size(); ++k) s.numbers.ranks[kept[k]] = static_cast<int>(k);
  shrink_communicators(s);
  shrink_ranks(s);
  number_hosts(s.result);
  fold(s);
  shrink_hypothesis(s.numbers, s.result.hypothesis);
  s.result.settings = shrunk_settings(s.numbers, plan.settings);
  for (std::string& sentence : loss_sentences(s.losses, plan, kept.size())) {
    s.result.losses.push_back(std::move(sentence));
  }
  return std::move(s.result);
}

/// True if both runs make the same calls; of the communicator that stands still, if one does.
bool runs_are_alike(const ReplayPlan& plan) {
  const auto is_elsewhere = [&](const PlannedCall& call) {
    const auto& front = plan.hypothesis.front;
    return front && call.communicator != front->communicator;
  };
  return std::all_of(plan.ranks.begin(), plan.ranks.end(), [&](const PlannedRank& rank) {
    std::vector<PlannedCall> clean = calls_in(rank, MadeIn::Clean);
    std::vector<PlannedCall> defect = calls_in(rank, MadeIn::Defect);
    for (auto* calls : {&clean, &defect}) {
      std::erase_if(*calls, is_elsewhere);
      for (PlannedCall& call : *calls) call.made_in = MadeIn::Both;
    }
    return clean == defect;
  });
}

ReplayPlan with_ranks(const ReplayPlan& plan, int gpus) {
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  return smaller_plan(plan, kept_ranks(plan, gpus));
}

}  // namespace

ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus) {
  if (gpus < 2) {
    throw Error("a replay needs at least two GPUs", "--gpus",
                "one rank alone has nobody to call with");
  }
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  ReplayPlan small = with_ranks(plan, gpus);
  if (is_empty(small)) {
    throw Error(fmt::format("with {} GPUs no call is left: those of the ranks that are kept name "
                            "others",
                            gpus),
                "--gpus", "take more GPUs, or leave out --gpus for a plan of all ranks");
  }
  if (!runs_are_alike(small) || runs_are_alike(plan)) return small;
  int enough = gpus + 1;
  while (runs_are_alike(with_ranks(plan, enough))) ++enough;
  throw Error(fmt::format("with {} GPUs both runs would make the same calls: what departs from "
                          "the others names ranks that are left out",
                          gpus),
              "--gpus", fmt::format("{} GPUs will do", enough));
}

}  // namespace ncclog
