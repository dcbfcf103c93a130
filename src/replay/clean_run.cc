#include "replay/clean_run.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "replay/call_shape.h"

namespace ncclog {
namespace {

/// What meets: a collective of a communicator, or the k-th message from one rank to another.
struct MeetingKey {
  int communicator = -1;
  int sender = -1;  ///< -1: a collective.
  int receiver = -1;
  uint64_t index = 0;

  auto operator<=>(const MeetingKey&) const = default;
};

/// What has to be equal on all sides.
using Terms = std::tuple<std::string, int64_t, int, int, int>;

Terms terms_of(const PlannedCall& call) {
  if (is_message(call.op)) return {"", call.count, call.datatype, 0, -1};
  return {call.op, call.count, call.datatype, call.redop, call.root};
}

/// Calls of a rank that are launched together.
struct LaunchUnit {
  std::vector<size_t> calls;   ///< Of the rank.
  std::vector<size_t> behind;  ///< Units of the rank that wait for it.
  size_t waits_for = 0;        ///< Units before it on its streams that have not ended.
  size_t unmet = 0;            ///< Of its calls.
};

struct Meeting {
  std::vector<std::pair<int, size_t>> units;  ///< Rank and unit of those that came.
  std::optional<Terms> terms;
  bool fails = false;  ///< Some came with other terms, or twice.
};

/// Carries a plan's clean run out in thought.
class CleanRun {
 public:
  explicit CleanRun(const ReplayPlan& plan) : plan_(plan) {
    for (const PlannedCommunicator& comm : plan.communicators) {
      places_.emplace_back();
      for (size_t r = 0; r < comm.ranks.size(); ++r) {
        places_.back()[comm.ranks[r]] = static_cast<int>(r);
      }
    }
    for (const PlannedRank& rank : plan.ranks) units_.push_back(units_of(rank));
    for (size_t r = 0; r < units_.size(); ++r) {
      for (size_t u = 0; u < units_[r].size(); ++u) {
        if (units_[r][u].waits_for == 0) ready_.emplace_back(static_cast<int>(r), u);
      }
    }
    while (!ready_.empty()) {
      const auto [rank, unit] = ready_.back();
      ready_.pop_back();
      launch(rank, unit);
    }
  }

  std::vector<AwaitedCall> awaited(const std::vector<int>& ranks) const {
    const std::set<int> late(ranks.begin(), ranks.end());
    std::vector<AwaitedCall> result;
    for (const auto& [key, meeting] : meetings_) {
      const std::set<int> absent = absent_from(key, meeting);
      const bool is_late = !meeting.fails && !absent.empty() &&
                           std::includes(late.begin(), late.end(), absent.begin(), absent.end());
      if (!is_late) continue;
      for (const int rank : absent) {
        AwaitedCall awaited{rank, call_at(key, meeting)};
        if (key.sender >= 0) turn_round(key, awaited.call);
        if (!makes(awaited)) result.push_back(std::move(awaited));
      }
    }
    return result;
  }

  std::vector<std::vector<bool>> completed() const {
    std::vector<std::vector<bool>> result;
    for (size_t r = 0; r < units_.size(); ++r) {
      result.emplace_back(plan_.ranks[r].calls.size(), false);
      for (const LaunchUnit& unit : units_[r]) {
        if (unit.waits_for > 0 || unit.unmet > 0) continue;
        for (const size_t call : unit.calls) result.back()[call] = true;
      }
    }
    return result;
  }

 private:
  static std::vector<LaunchUnit> units_of(const PlannedRank& rank) {
    std::vector<LaunchUnit> units;
    std::map<int, size_t> last_on;
    int group = -1;
    for (size_t c = 0; c < rank.calls.size(); ++c) {
      const PlannedCall& call = rank.calls[c];
      if (call.made_in == MadeIn::Defect) continue;
      if (units.empty() || call.group < 0 || call.group != group) units.emplace_back();
      group = call.group;
      units.back().calls.push_back(c);
      ++units.back().unmet;
    }
    for (size_t u = 0; u < units.size(); ++u) {
      std::set<size_t> before;
      for (const size_t c : units[u].calls) {
        const auto last = last_on.find(rank.calls[c].stream);
        if (last != last_on.end()) before.insert(last->second);
      }
      for (const size_t c : units[u].calls) last_on[rank.calls[c].stream] = u;
      for (const size_t other : before) units[other].behind.push_back(u);
      units[u].waits_for = before.size();
    }
    return units;
  }

  MeetingKey key_of(const PlannedCall& call, int rank) const {
    if (!is_message(call.op)) return {call.communicator, -1, -1, call.index};
    const int own = places_[static_cast<size_t>(call.communicator)].at(rank);
    return call.op == "Send" ? MeetingKey{call.communicator, own, call.root, call.index}
                             : MeetingKey{call.communicator, call.root, own, call.index};
  }

  /// Ranks of the plan that did not come to it.
  std::set<int> absent_from(const MeetingKey& key, const Meeting& meeting) const {
    if (meeting.units.size() >= expected(key)) return {};
    const auto& ranks = plan_.communicators[static_cast<size_t>(key.communicator)].ranks;
    std::set<int> absent(ranks.begin(), ranks.end());
    if (key.sender >= 0) {
      absent = {ranks[static_cast<size_t>(key.sender)], ranks[static_cast<size_t>(key.receiver)]};
    }
    for (const auto& [rank, unit] : meeting.units) absent.erase(rank);
    return absent;
  }

  /// The call by which the first rank came to it.
  const PlannedCall& call_at(const MeetingKey& key, const Meeting& meeting) const {
    const auto& [rank, unit] = meeting.units.front();
    const auto& own = plan_.ranks[static_cast<size_t>(rank)].calls;
    const auto& calls = units_[static_cast<size_t>(rank)][unit].calls;
    const auto found = std::find_if(calls.begin(), calls.end(),
                                    [&, r = rank](size_t c) { return key_of(own[c], r) == key; });
    return own[*found];
  }

  /// The other end of a message.
  static void turn_round(const MeetingKey& key, PlannedCall& call) {
    const bool has_sent = call.op == "Send";
    call.op = has_sent ? "Recv" : "Send";
    call.root = has_sent ? key.sender : key.receiver;
    call.send_offset = call.recv_offset = 0;
  }

  /// The call, or another one in its place, is among the rank's own.
  bool makes(const AwaitedCall& awaited) const {
    const auto& calls = plan_.ranks[static_cast<size_t>(awaited.rank)].calls;
    return std::any_of(calls.begin(), calls.end(), [&](const PlannedCall& own) {
      if (own.communicator != awaited.call.communicator || own.index != awaited.call.index) {
        return false;
      }
      if (!is_message(own.op) && !is_message(awaited.call.op)) return true;
      return own.op == awaited.call.op && own.root == awaited.call.root;
    });
  }

  size_t expected(const MeetingKey& key) const {
    if (key.sender >= 0) return 2;
    return plan_.communicators[static_cast<size_t>(key.communicator)].ranks.size();
  }

  void launch(int rank, size_t unit) {
    for (const size_t c : units_[static_cast<size_t>(rank)][unit].calls) {
      const PlannedCall& call = plan_.ranks[static_cast<size_t>(rank)].calls[c];
      const MeetingKey key = key_of(call, rank);
      Meeting& meeting = meetings_[key];
      if (!meeting.terms) meeting.terms = terms_of(call);
      meeting.fails |= *meeting.terms != terms_of(call);
      meeting.units.emplace_back(rank, unit);
      meeting.fails |= meeting.units.size() > expected(key);
      if (!meeting.fails && meeting.units.size() == expected(key)) end(meeting);
    }
  }

  void end(const Meeting& meeting) {
    for (const auto& [rank, u] : meeting.units) {
      std::vector<LaunchUnit>& units = units_[static_cast<size_t>(rank)];
      if (--units[u].unmet > 0) continue;
      for (const size_t behind : units[u].behind) {
        if (--units[behind].waits_for == 0) ready_.emplace_back(rank, behind);
      }
    }
  }

  const ReplayPlan& plan_;
  std::vector<std::map<int, int>> places_;  ///< By communicator: rank of the plan to rank in it.
  std::vector<std::vector<LaunchUnit>> units_;  ///< By rank.
  std::vector<std::pair<int, size_t>> ready_;
  std::map<MeetingKey, Meeting> meetings_;
};

/// A group that is made in parts would be another group: it goes to the defect run as a whole.
void keep_groups_whole(PlannedRank& rank) {
  std::set<int> moved;
  for (const PlannedCall& call : rank.calls) {
    if (call.group >= 0 && call.made_in == MadeIn::Defect) moved.insert(call.group);
  }
  for (PlannedCall& call : rank.calls) {
    if (moved.contains(call.group)) call.made_in = MadeIn::Defect;
  }
}

bool is_at(const PlannedCall& call, const FrontLine& front, bool by_message) {
  return call.communicator == front.communicator && call.index == front.index &&
         is_message(call.op) == by_message;
}

/// A message has several of its number; the one that is meant is the missing rank's.
bool comes_to(const ReplayPlan& plan, const FrontLine& front, bool by_message) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan);
  return std::any_of(front.missing.begin(), front.missing.end(), [&](int rank) {
    const auto r = static_cast<size_t>(rank);
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      const PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_added = !by_message || call.made_in == MadeIn::Clean;
      if (completed[r][c] && is_added && is_at(call, front, by_message)) return true;
    }
    return false;
  });
}

/// Inserts a call before what the rank does not come to, on the stream that it uses for such.
void insert_call(const std::vector<bool>& completed, AwaitedCall awaited, ReplayPlan& plan) {
  std::vector<PlannedCall>& calls = plan.ranks[static_cast<size_t>(awaited.rank)].calls;
  size_t place = 0;
  while (place < calls.size() && (completed[place] || calls[place].made_in == MadeIn::Defect)) {
    ++place;
  }
  const auto like = std::find_if(calls.rbegin(), calls.rend(), [&](const PlannedCall& call) {
    return call.communicator == awaited.call.communicator &&
           is_message(call.op) == is_message(awaited.call.op);
  });
  awaited.call.stream = like == calls.rend() ? 0 : like->stream;
  awaited.call.group = -1;
  awaited.call.made_in = MadeIn::Clean;
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(awaited.call));
}

/// One pass over the plan; true if something was moved or removed.
bool settle_once(ReplayPlan& plan, uint64_t& removed) {
  for (PlannedRank& rank : plan.ranks) keep_groups_whole(rank);
  const std::vector<std::vector<bool>> completed = completed_calls(plan);
  bool changed = false;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    std::vector<PlannedCall> kept;
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      PlannedCall& call = plan.ranks[r].calls[c];
      const bool is_unmet = !completed[r][c] && call.made_in != MadeIn::Defect;
      const bool is_lost = is_unmet && call.made_in == MadeIn::Clean;
      changed |= is_unmet;
      removed += is_lost ? 1 : 0;
      if (is_unmet) call.made_in = MadeIn::Defect;
      if (!is_lost) kept.push_back(std::move(call));
    }
    plan.ranks[r].calls = std::move(kept);
  }
  return changed;
}

}  // namespace

std::vector<AwaitedCall> awaited_calls(const ReplayPlan& plan, const std::vector<int>& ranks) {
  return CleanRun(plan).awaited(ranks);
}

int extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message) {
  constexpr int kMostRounds = 64;
  int others = 0;
  for (int round = 0; round < kMostRounds && !comes_to(plan, front, by_message); ++round) {
    std::vector<AwaitedCall> awaited = awaited_calls(plan, front.missing);
    if (by_message) {
      std::erase_if(awaited, [](const AwaitedCall& one) { return !is_message(one.call.op); });
    }
    if (awaited.empty()) break;
    const std::vector<std::vector<bool>> completed = completed_calls(plan);
    const PlannedCall first = awaited.front().call;
    others += is_at(first, front, by_message) ? 0 : 1;
    for (AwaitedCall& one : awaited) {
      const bool is_first = one.call == first;
      if (!is_first) continue;
      insert_call(completed[static_cast<size_t>(one.rank)], std::move(one), plan);
    }
  }
  return others;
}

std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan) {
  return CleanRun(plan).completed();
}

uint64_t settle_clean_run(ReplayPlan& plan) {
  uint64_t removed = 0;
  // A call whose group does not end is taken from others that met it.
  while (settle_once(plan, removed)) {
  }
  return removed;
}

}  // namespace ncclog
