#include "replay/smaller_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "replay/call_shape.h"
#include "replay/shrink_losses.h"

namespace ncclog {
namespace {

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

}  // namespace

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

}  // namespace ncclog
