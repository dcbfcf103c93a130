#include "replay/plan/clean_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "log/nccl_names.h"

namespace ncclog {
bool can_meet(const PlannedCall& a, const PlannedCall& b) {
  if (a.count != b.count || a.datatype != b.datatype) return false;
  if (is_message(a.op)) return true;
  // Reductions of the job's own have another number on each rank.
  const bool reduce_alike =
      !is_reduction(a.op) || reduction_name(a.redop) == reduction_name(b.redop);
  return a.op == b.op && reduce_alike && (!has_root(a.op) || a.root == b.root);
}

int usual_stream(const std::vector<PlannedCall>& calls, const PlannedCall& call) {
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [&](const PlannedCall& other) {
    return other.communicator == call.communicator && is_message(other.op) == is_message(call.op);
  });
  return last == calls.rend() ? 0 : last->stream;
}

CleanCalls clean_calls(const ReplayPlan& plan, Numbered numbered, SendEnds sends) {
  CleanCalls clean;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    RankProgram& program = clean.programs.emplace_back();
    std::vector<size_t>& places = clean.places.emplace_back();
    std::map<std::pair<CallLine, bool>, uint64_t> made;
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      const PlannedCall& planned = plan.ranks[r].calls[c];
      if (planned.made_in == MadeIn::Defect) continue;
      RankCall& call = program.calls.emplace_back();
      places.push_back(c);
      call.line.communicator = planned.communicator;
      call.receives = planned.op == "Recv";
      if (is_message(planned.op)) {
        const auto& communicator = plan.communicators[planned.communicator];
        const int own = rank_in(communicator, static_cast<int>(r));
        call.line.sender = call.receives ? planned.root : own;
        call.line.receiver = call.receives ? own : planned.root;
      }
      const uint64_t order = made[{call.line, call.receives}]++;
      call.index = numbered == Numbered::ByOrder ? order : planned.index;
      call.stream = planned.stream;
      call.group = planned.group;
      call.is_buffered = sends == SendEnds::ByItself && planned.op == "Send";
    }
  }
  return clean;
}

namespace {

const PlannedCall& call_at(const ReplayPlan& plan, const CleanCalls& clean,
                           const SimulatedCall& place) {
  return plan.ranks[place.program].calls[clean.places[place.program][place.call]];
}

/// How many have to come there.
size_t expected_at(const ReplayPlan& plan, const CallLine& line) {
  return line.is_message() ? 2 : plan.communicators[line.communicator].ranks.size();
}

/// The clean run by the numbers of the record, as far as it comes. No buffer holds what a rank
/// sends itself.
Simulation carry_out(const ReplayPlan& plan, CleanCalls& clean) {
  for (RankProgram& program : clean.programs) {
    for (RankCall& call : program.calls) {
      call.is_buffered = call.is_buffered && call.line.sender != call.line.receiver;
    }
  }
  return Simulation(clean.programs, Circles::Wait, [&](const MeetingKey& key, const auto& calls) {
    const PlannedCall& first = call_at(plan, clean, calls.front());
    return calls.size() == expected_at(plan, key.line) &&
           std::ranges::all_of(calls, [&](const SimulatedCall& call) {
             return can_meet(first, call_at(plan, clean, call));
           });
  });
}

// For which calls does the clean run of a plan wait at its end, and for whom?
//
//   rank 0: AllReduce(28)        rank 1: nothing more
//       → rank 1, AllReduce(28) as rank 0 makes it

/// A call in which others wait for a rank, as one of them makes it.
struct AwaitedCall {
  int rank = -1;     ///< Into ReplayPlan::ranks: who is waited for.
  PlannedCall call;  ///< Its own: of a message the other end.
};

/// Ranks of the plan that did not come to it; none where who came called different things.
std::set<int> absent_from(const ReplayPlan& plan, const CleanCalls& clean, const MeetingKey& key,
                          const Meeting& meeting) {
  const auto came = meeting.came();
  if (came.empty() || came.size() >= expected_at(plan, key.line)) return {};
  const auto& ranks = plan.communicators[key.line.communicator].ranks;
  std::set<int> absent(ranks.begin(), ranks.end());
  if (key.line.is_message()) {
    absent = {ranks[key.line.sender], ranks[key.line.receiver]};
  }
  for (const SimulatedCall& call : came) {
    absent.erase(static_cast<int>(call.program));
    if (!can_meet(call_at(plan, clean, came.front()), call_at(plan, clean, call))) return {};
  }
  return absent;
}

/// The other end of a message.
void turn_round(const CallLine& line, PlannedCall& call) {
  const bool has_sent = call.op == "Send";
  call.op = has_sent ? "Recv" : "Send";
  call.root = has_sent ? line.sender : line.receiver;
  call.send_offset = call.recv_offset = 0;
}

/// The call, or another one in its place, is among the rank's own.
bool makes(const ReplayPlan& plan, const AwaitedCall& awaited) {
  const auto& calls = plan.ranks[awaited.rank].calls;
  return std::ranges::any_of(calls, [&](const PlannedCall& own) {
    if (own.communicator != awaited.call.communicator || own.index != awaited.call.index) {
      return false;
    }
    if (!is_message(own.op) && !is_message(awaited.call.op)) return true;
    return own.op == awaited.call.op && own.root == awaited.call.root;
  });
}

/// What the clean run waits for at its end: calls that all but some of `ranks` came to, and that
/// are not among those ranks' own. By communicator and index, then by rank.
std::vector<AwaitedCall> awaited_calls(const ReplayPlan& plan, const std::vector<int>& ranks,
                                       SendEnds sends) {
  const std::set<int> late(ranks.begin(), ranks.end());
  CleanCalls clean = clean_calls(plan, Numbered::AsRecorded, sends);
  const Simulation simulation = carry_out(plan, clean);
  std::vector<AwaitedCall> result;
  for (const auto& [key, meeting] : simulation.meetings()) {
    const std::set<int> absent = absent_from(plan, clean, key, meeting);
    if (!std::includes(late.begin(), late.end(), absent.begin(), absent.end())) continue;
    for (const int rank : absent) {
      AwaitedCall awaited{rank, call_at(plan, clean, meeting.came().front())};
      if (key.line.is_message()) turn_round(key.line, awaited.call);
      if (!makes(plan, awaited)) result.push_back(std::move(awaited));
    }
  }
  return result;
}

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

/// A message has several of its number; the one that is meant is the missing rank's.
bool comes_to(const ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
  return std::ranges::any_of(front.missing, [&](int rank) {
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
  std::vector<PlannedCall>& calls = plan.ranks[awaited.rank].calls;
  size_t place = 0;
  while (place < calls.size() && (completed[place] || calls[place].made_in == MadeIn::Defect)) {
    ++place;
  }
  awaited.call.stream = usual_stream(calls, awaited.call);
  awaited.call.group = -1;
  awaited.call.made_in = MadeIn::Clean;
  calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(place), std::move(awaited.call));
}

/// One pass over the plan; true if something was moved or removed.
bool settle_once(ReplayPlan& plan, SendEnds sends, uint64_t& removed) {
  for (PlannedRank& rank : plan.ranks) keep_groups_whole(rank);
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
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

/// The call at the front is met, and so are those whose groups it or its other end are in.
bool settles_at(const ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  if (!comes_to(plan, front, by_message, sends)) return false;
  ReplayPlan settled = plan;
  settle_clean_run(settled, sends);
  return comes_to(settled, front, by_message, sends);
}

}  // namespace

std::vector<std::vector<bool>> completed_calls(const ReplayPlan& plan, SendEnds sends) {
  CleanCalls clean = clean_calls(plan, Numbered::AsRecorded, sends);
  const Simulation simulation = carry_out(plan, clean);
  std::vector<std::vector<bool>> result;
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    const std::vector<PlannedCall>& calls = plan.ranks[r].calls;
    std::vector<bool>& completed = result.emplace_back(calls.size(), false);
    std::set<int> open;  // Groups: they end as a whole.
    for (uint32_t c = 0; c < clean.places[r].size(); ++c) {
      const size_t at = clean.places[r][c];
      completed[at] = simulation.has_ended({static_cast<uint32_t>(r), c});
      if (!completed[at] && calls[at].group >= 0) open.insert(calls[at].group);
    }
    for (const size_t at : clean.places[r]) {
      if (open.contains(calls[at].group)) completed[at] = false;
    }
  }
  return result;
}

bool clean_run_ends(const ReplayPlan& plan, SendEnds sends) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    for (size_t c = 0; c < plan.ranks[r].calls.size(); ++c) {
      if (plan.ranks[r].calls[c].made_in != MadeIn::Defect && !completed[r][c]) return false;
    }
  }
  return true;
}

uint64_t extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message,
                          SendEnds sends) {
  constexpr int kMostRounds = 64;
  uint64_t others = 0;
  for (int round = 0; round < kMostRounds && !settles_at(plan, front, by_message, sends); ++round) {
    std::vector<AwaitedCall> awaited = awaited_calls(plan, front.missing, sends);
    if (by_message) {
      std::erase_if(awaited, [](const AwaitedCall& one) { return !is_message(one.call.op); });
    }
    if (awaited.empty()) break;
    // One call at a time: with it others may come to their ends for whom nobody waits then.
    const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
    const PlannedCall first = awaited.front().call;
    others += is_at(first, front, by_message) ? 0 : 1;
    for (AwaitedCall& one : awaited) {
      if (one.call != first) continue;
      insert_call(completed[one.rank], std::move(one), plan);
    }
  }
  return others;
}

uint64_t settle_clean_run(ReplayPlan& plan, SendEnds sends) {
  uint64_t removed = 0;
  // A call whose group does not end is taken from others that met it.
  while (settle_once(plan, sends, removed)) {
  }
  return removed;
}

}  // namespace ncclog
