#include "replay/kept_ranks.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "replay/call_shape.h"

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

}  // namespace ncclog
