#include "replay/shrink_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

/// "1 call", "2 calls".
std::string counted(uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

bool holds(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// The communicator that is tested: the one that stands still, else the largest.
int tested_communicator(const ReplayPlan& plan) {
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

/// Chooses ranks one by one, each the one that adds most to those before it.
class Choice {
 public:
  explicit Choice(const ReplayPlan& plan) : plan_(plan), of_(plan.ranks.size()) {
    for (size_t c = 0; c < plan.communicators.size(); ++c) {
      for (const int rank : plan.communicators[c].ranks) {
        of_[static_cast<size_t>(rank)].push_back(static_cast<int>(c));
      }
    }
    const int tested = tested_communicator(plan);
    if (tested >= 0) members_ = plan.communicators[static_cast<size_t>(tested)].ranks;
  }

  void keep_departed(size_t most) {
    for (const int rank : plan_.hypothesis.departed) {
      if (kept_.size() < most && holds(members_, rank)) keep(rank);
    }
  }

  /// Roots that the call in question names, in either run; one place is left to a rank that entered
  /// it.
  void keep_roots(size_t most) {
    for (const int root : roots_at_front(plan_)) {
      const bool is_witness = is_witnessed() || entered(root);
      if (kept_.size() + (is_witness ? 0 : 1) < most) keep(root);
    }
  }

  void keep_others(size_t most) {
    while (kept_.size() < std::min(most, plan_.ranks.size())) keep(best());
  }

  std::vector<int> take() const { return {kept_.begin(), kept_.end()}; }

 private:
  bool entered(int rank) const {
    const auto& front = plan_.hypothesis.front;
    return front && holds(front->entered, rank) && !holds(plan_.hypothesis.departed, rank);
  }

  bool is_witnessed() const {
    return std::any_of(kept_.begin(), kept_.end(), [this](int rank) { return entered(rank); });
  }

  void keep(int rank) {
    if (!kept_.insert(rank).second) return;
    hosts_.insert(plan_.ranks[static_cast<size_t>(rank)].host_group);
    for (const int c : of_[static_cast<size_t>(rank)]) ++kept_of_[c];
  }

  /// Higher is better: a witness of the test, on another host, who shares communicators.
  auto merit(int rank) const {
    const bool departed = holds(plan_.hypothesis.departed, rank);
    const bool other_host = !hosts_.contains(plan_.ranks[static_cast<size_t>(rank)].host_group);
    int shared = 0;
    for (const int c : of_[static_cast<size_t>(rank)]) shared += kept_of_.contains(c) ? 1 : 0;
    return std::tuple(holds(members_, rank), entered(rank), !departed, other_host, shared, -rank);
  }

  int best() const {
    int chosen = -1;
    for (int rank = 0; rank < static_cast<int>(plan_.ranks.size()); ++rank) {
      if (kept_.contains(rank)) continue;
      if (chosen < 0 || merit(chosen) < merit(rank)) chosen = rank;
    }
    return chosen;
  }

  const ReplayPlan& plan_;
  std::vector<std::vector<int>> of_;  ///< Communicators by rank.
  std::vector<int> members_;          ///< Of the tested communicator.
  std::set<int> kept_;
  std::set<int> hosts_;
  std::map<int, int> kept_of_;  ///< Kept ranks by communicator.
};

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

struct Dropped {
  std::vector<std::string> communicators;  ///< Their ids.
  uint64_t calls = 0;                      ///< On them.
  uint64_t messages = 0;                   ///< To and from ranks that are not kept.
  uint64_t roots = 0;                      ///< Calls whose root became another rank.
};

/// Takes a plan apart and puts what is kept together again.
class Shrinking {
 public:
  Shrinking(const ReplayPlan& plan, const std::vector<int>& kept)
      : plan_(plan), kept_(kept), result_(plan) {
    for (size_t k = 0; k < kept.size(); ++k) new_rank_[kept[k]] = static_cast<int>(k);
    shrink_communicators();
    shrink_ranks();
    shrink_hypothesis();
    shrink_settings();
    add_losses();
  }

  ReplayPlan take() { return std::move(result_); }

 private:
  std::vector<int> renamed(const std::vector<int>& ranks) const {
    std::vector<int> result;
    for (const int rank : ranks) {
      const auto found = new_rank_.find(rank);
      if (found != new_rank_.end()) result.push_back(found->second);
    }
    return result;
  }

  void shrink_communicators() {
    result_.communicators.clear();
    for (size_t c = 0; c < plan_.communicators.size(); ++c) {
      PlannedCommunicator comm = plan_.communicators[c];
      comm.ranks = renamed(comm.ranks);
      if (comm.ranks.size() < 2) {
        dropped_.communicators.push_back(comm.id);
        continue;
      }
      if (comm.parent >= 0) comm.parent = new_communicator_.at(comm.parent);
      new_communicator_[static_cast<int>(c)] = static_cast<int>(result_.communicators.size());
      result_.communicators.push_back(std::move(comm));
    }
  }

  /// The number in its smaller communicator of a rank of the old one; -1: it is not kept.
  int new_number(int communicator, int number) const {
    const auto& old_ranks = plan_.communicators[static_cast<size_t>(communicator)].ranks;
    if (number < 0 || static_cast<size_t>(number) >= old_ranks.size()) return -1;
    const auto rank = new_rank_.find(old_ranks[static_cast<size_t>(number)]);
    if (rank == new_rank_.end()) return -1;
    const auto& ranks =
        result_.communicators[static_cast<size_t>(new_communicator_.at(communicator))].ranks;
    return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank->second) - ranks.begin());
  }

  /// False if the call goes.
  bool keep_call(PlannedCall& call) {
    const auto communicator = new_communicator_.find(call.communicator);
    if (communicator == new_communicator_.end()) {
      ++dropped_.calls;
      return false;
    }
    const int number = call.root < 0 ? -1 : new_number(call.communicator, call.root);
    if (call.root >= 0 && number < 0 && is_message(call.op)) {
      ++dropped_.messages;
      return false;
    }
    if (call.root >= 0 && number < 0) ++dropped_.roots;
    if (call.root >= 0) call.root = std::max(0, number);
    call.communicator = communicator->second;
    return true;
  }

  void shrink_ranks() {
    result_.ranks.clear();
    for (const int k : kept_) {
      PlannedRank rank = plan_.ranks[static_cast<size_t>(k)];
      std::vector<PlannedCall> calls;
      for (PlannedCall& call : rank.calls) {
        if (keep_call(call)) calls.push_back(std::move(call));
      }
      rank.left_out += rank.calls.size() - calls.size();
      rank.calls = std::move(calls);
      result_.ranks.push_back(std::move(rank));
    }
    number_hosts();
    fold();
  }

  void number_hosts() {
    std::map<int, int> numbers;
    for (PlannedRank& rank : result_.ranks) {
      rank.host_group =
          numbers.try_emplace(rank.host_group, static_cast<int>(numbers.size())).first->second;
    }
  }

  /// Ranks that are not kept are stood for by kept ones that made the same calls.
  void fold() {
    std::map<std::string, std::vector<int>> by_program;
    for (size_t r = 0; r < plan_.ranks.size(); ++r) {
      by_program[program_text(plan_, plan_.ranks[r])].push_back(static_cast<int>(r));
    }
    for (const auto& [text, ranks] : by_program) {
      const auto kept = std::find_if(ranks.begin(), ranks.end(),
                                     [&](int rank) { return new_rank_.contains(rank); });
      for (const int rank : ranks) {
        const PlannedRank& old = plan_.ranks[static_cast<size_t>(rank)];
        if (new_rank_.contains(rank)) continue;
        if (kept == ranks.end()) {
          alone_.push_back(old.recorded_rank);
          continue;
        }
        auto& stands_for = result_.ranks[static_cast<size_t>(new_rank_.at(*kept))].stands_for;
        stands_for.insert(stands_for.end(), old.stands_for.begin(), old.stands_for.end());
        if (old.recorded_rank >= 0) stands_for.push_back(old.recorded_rank);
      }
    }
    for (PlannedRank& rank : result_.ranks) {
      std::sort(rank.stands_for.begin(), rank.stands_for.end());
    }
  }

  void shrink_hypothesis() {
    Hypothesis& hypothesis = result_.hypothesis;
    hypothesis.departed = renamed(hypothesis.departed);
    if (!hypothesis.front) return;
    FrontLine& front = *hypothesis.front;
    front.communicator = new_communicator_.at(front.communicator);
    front.entered = renamed(front.entered);
    front.missing = renamed(front.missing);
  }

  void shrink_settings() {
    std::vector<PlannedSetting> settings;
    for (PlannedSetting setting : plan_.settings) {
      const bool of_all = setting.ranks.empty();
      setting.ranks = renamed(setting.ranks);
      if (!of_all && setting.ranks.empty()) continue;
      if (setting.ranks.size() == kept_.size()) setting.ranks.clear();
      settings.push_back(std::move(setting));
    }
    result_.settings = std::move(settings);
  }

  void add_losses() {
    std::vector<std::string>& losses = result_.losses;
    losses.push_back(
        fmt::format("{} ranks are replayed by {}: every communicator is smaller, and "
                    "its rings and trees are others.",
                    plan_.ranks.size(), kept_.size()));
    if (!alone_.empty()) {
      std::erase(alone_, -1);
      losses.push_back(fmt::format("No kept rank made the same calls as {}.", alone_words()));
    }
    if (!dropped_.communicators.empty()) {
      losses.push_back(fmt::format(
          "{} of {} communicators are not made, because fewer than two of their ranks are kept; "
          "{} on them {} left out.",
          dropped_.communicators.size(), plan_.communicators.size(),
          counted(dropped_.calls, "call"), dropped_.calls == 1 ? "is" : "are"));
    }
    if (dropped_.messages > 0) {
      losses.push_back(fmt::format("{} to or from ranks that are not kept {} left out.",
                                   counted(dropped_.messages, "message"),
                                   dropped_.messages == 1 ? "is" : "are"));
    }
    if (dropped_.roots > 0) {
      losses.push_back(
          fmt::format("The root of {} is not kept: the lowest kept rank takes its part.",
                      counted(dropped_.roots, "call")));
    }
  }

  std::string alone_words() const {
    return alone_.empty() ? "some that are left out" : "ranks " + ranges_text(alone_);
  }

  const ReplayPlan& plan_;
  const std::vector<int>& kept_;
  ReplayPlan result_;
  std::map<int, int> new_rank_;
  std::map<int, int> new_communicator_;
  Dropped dropped_;
  std::vector<int> alone_;  ///< Recorded ranks that nobody stands for.
};

ReplayPlan with_ranks(const ReplayPlan& plan, int gpus) {
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  return Shrinking(plan, kept_ranks(plan, gpus)).take();
}

}  // namespace

std::vector<int> kept_ranks(const ReplayPlan& plan, int gpus) {
  const auto most = static_cast<size_t>(std::max(0, gpus));
  Choice choice(plan);
  choice.keep_departed(std::max<size_t>(1, most / 2));
  choice.keep_roots(most);
  choice.keep_others(most);
  return choice.take();
}

ReplayPlan shrink_plan(const ReplayPlan& plan, int gpus) {
  if (gpus < 2) {
    throw Error("a replay needs at least two GPUs", "--gpus",
                "one rank alone has nobody to call with");
  }
  if (plan.ranks.size() <= static_cast<size_t>(gpus)) return plan;
  ReplayPlan small = with_ranks(plan, gpus);
  if (!runs_are_alike(small) || runs_are_alike(plan)) return small;
  int enough = gpus + 1;
  while (runs_are_alike(with_ranks(plan, enough))) ++enough;
  throw Error(fmt::format("with {} GPUs both runs would make the same calls: what departs from "
                          "the others names ranks that are left out",
                          gpus),
              "--gpus", fmt::format("{} GPUs will do", enough));
}

}  // namespace ncclog
