#include "replay/plan/clean_run.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "replay/plan/plan.h"

namespace ncclog {
namespace {

/// By communicator of the plan and rank of the plan: the rank in the communicator.
using Members = std::vector<std::map<int, int>>;

Members members_of(const ReplayPlan& plan) {
  Members members;
  for (const PlannedCommunicator& communicator : plan.communicators) {
    auto& by_rank = members.emplace_back();
    for (size_t i = 0; i < communicator.ranks.size(); ++i) {
      by_rank[communicator.ranks[i]] = static_cast<int>(i);
    }
  }
  return members;
}

void add_message(CommunicatorCalls& calls, const PlannedCall& call, int member,
                 const CallOfRank& place) {
  if (call.op == "Send") {
    calls.messages[{member, call.root}].sends.push_back(place);
  } else {
    calls.messages[{call.root, member}].recvs.push_back(place);
  }
}

}  // namespace

std::vector<CommunicatorCalls> run_calls(const ReplayPlan& plan, MadeIn mode) {
  const Members members = members_of(plan);
  std::vector<CommunicatorCalls> all(plan.communicators.size());
  for (size_t c = 0; c < all.size(); ++c) {
    all[c].collectives.resize(plan.communicators[c].ranks.size());
  }
  for (size_t r = 0; r < plan.ranks.size(); ++r) {
    for (size_t at = 0; at < plan.ranks[r].calls.size(); ++at) {
      const PlannedCall& call = plan.ranks[r].calls[at];
      if (call.made_in != MadeIn::Both && call.made_in != mode) continue;
      const auto c = static_cast<size_t>(call.communicator);
      const int member = members[c].at(static_cast<int>(r));
      if (is_message(call.op)) {
        add_message(all[c], call, member, {r, at});
      } else {
        all[c].collectives[static_cast<size_t>(member)].push_back({r, at});
      }
    }
  }
  return all;
}

const PlannedCall& call_at(const ReplayPlan& plan, const CallOfRank& place) {
  return plan.ranks[place.rank].calls[place.call];
}

namespace {

/// A call on its way.
struct Step {
  CallOfRank place;
  size_t queue = 0;    ///< Its rank's stream.
  size_t meeting = 0;  ///< What ends it.
  bool is_send = false;
  bool begun = false;
  bool done = false;
};

/// Calls that are begun together: one, or a group's calls on one stream.
struct Batch {
  int group = -1;
  std::vector<size_t> steps;
  size_t open = 0;  ///< Of them, not done.
};

/// A stream of a rank. The batch at `head` is begun, those behind it are not.
struct Queue {
  std::vector<Batch> batches;
  size_t head = 0;
};

/// A collective, or a Send and its Recv.
struct Meeting {
  std::vector<size_t> steps;
  size_t begun = 0;
};

class Simulation {
 public:
  Simulation(const ReplayPlan& plan, SendEnds sends) : plan_(plan), sends_(sends) {
    for (size_t r = 0; r < plan.ranks.size(); ++r) add_rank(r);
    for (const CommunicatorCalls& calls : run_calls(plan, MadeIn::Clean)) add_meetings(calls);
  }

  void run() {
    for (size_t q = 0; q < queues_.size(); ++q) ready_.push_back(q);
    while (!ready_.empty()) {
      const size_t queue = ready_.back();
      ready_.pop_back();
      begin_head(queue);
    }
  }

  std::vector<WaitingCall> circle() const {
    for (const Queue& queue : queues_) {
      if (queue.head < queue.batches.size()) return circle_from(waiting_in(queue));
    }
    return {};
  }

 private:
  void add_rank(size_t r) {
    std::map<int, size_t> by_stream;
    const auto& calls = plan_.ranks[r].calls;
    for (size_t at = 0; at < calls.size(); ++at) {
      if (calls[at].made_in == MadeIn::Defect) continue;
      const auto [queue, is_new] = by_stream.emplace(calls[at].stream, queues_.size());
      if (is_new) queues_.emplace_back();
      step_at_[{r, at}] = steps_.size();
      add_to(queues_[queue->second], calls[at].group, steps_.size());
      steps_.push_back({{r, at}, queue->second, 0, calls[at].op == "Send"});
    }
  }

  static void add_to(Queue& queue, int group, size_t step) {
    const bool joins = group >= 0 && !queue.batches.empty() && queue.batches.back().group == group;
    if (!joins) queue.batches.push_back({group, {}, 0});
    queue.batches.back().steps.push_back(step);
    ++queue.batches.back().open;
  }

  void add_meetings(const CommunicatorCalls& calls) {
    const size_t collectives = calls.collectives.empty() ? 0 : calls.collectives.front().size();
    for (size_t k = 0; k < collectives; ++k) {
      std::vector<CallOfRank> places;
      for (const auto& of_rank : calls.collectives) places.push_back(of_rank.at(k));
      add_meeting(places);
    }
    for (const auto& [ends, line] : calls.messages) {
      for (size_t k = 0; k < line.sends.size(); ++k) {
        add_meeting({line.sends[k], line.recvs.at(k)});
      }
    }
  }

  void add_meeting(const std::vector<CallOfRank>& places) {
    Meeting meeting;
    for (const CallOfRank& place : places) {
      meeting.steps.push_back(step_at_.at({place.rank, place.call}));
      steps_[meeting.steps.back()].meeting = meetings_.size();
    }
    meetings_.push_back(std::move(meeting));
  }

  void begin_head(size_t q) {
    const Queue& queue = queues_[q];
    if (queue.head >= queue.batches.size()) return;
    for (const size_t step : queue.batches[queue.head].steps) begin(step);
  }

  void begin(size_t step) {
    steps_[step].begun = true;
    Meeting& meeting = meetings_[steps_[step].meeting];
    if (++meeting.begun == meeting.steps.size()) {
      for (const size_t each : meeting.steps) end(each);
    } else if (steps_[step].is_send && sends_ == SendEnds::ByItself) {
      end(step);
    }
  }

  void end(size_t s) {
    Step& step = steps_[s];
    // A Send that ended by itself is met again when its Recv comes.
    if (step.done) return;
    step.done = true;
    Queue& queue = queues_[step.queue];
    if (--queue.batches[queue.head].open > 0) return;
    ++queue.head;
    ready_.push_back(step.queue);
  }

  /// A call at the head of a queue that has not come to its end.
  size_t waiting_in(const Queue& queue) const {
    const auto& steps = queue.batches[queue.head].steps;
    return *std::find_if(steps.begin(), steps.end(),
                         [this](size_t step) { return !steps_[step].done; });
  }

  /// Who has not come to where that call waits.
  size_t awaited_by(size_t step) const {
    const auto& steps = meetings_[steps_[step].meeting].steps;
    return *std::find_if(steps.begin(), steps.end(),
                         [this](size_t other) { return !steps_[other].begun; });
  }

  std::vector<WaitingCall> circle_from(size_t step) const {
    std::vector<WaitingCall> links;
    std::map<size_t, size_t> link_of;  // By waiting step.
    while (!link_of.contains(step)) {
      link_of[step] = links.size();
      const size_t awaited = awaited_by(step);
      links.push_back({steps_[step].place, steps_[awaited].place});
      step = waiting_in(queues_[steps_[awaited].queue]);
    }
    // What leads into the circle is no part of it.
    links.erase(links.begin(), links.begin() + static_cast<ptrdiff_t>(link_of[step]));
    return links;
  }

  const ReplayPlan& plan_;
  SendEnds sends_;
  std::vector<Step> steps_;
  std::map<std::pair<size_t, size_t>, size_t> step_at_;  ///< By rank and call.
  std::vector<Queue> queues_;
  std::vector<Meeting> meetings_;
  std::vector<size_t> ready_;  ///< Queues whose head is to be begun.
};

}  // namespace

std::vector<WaitingCall> find_deadlock(const ReplayPlan& plan, SendEnds sends) {
  Simulation simulation(plan, sends);
  simulation.run();
  return simulation.circle();
}

namespace {

// A plan's clean run, carried out in thought: which calls meet, and which wait for ever?
//
//   rank 0: AllReduce(0) AllReduce(1) Send→1        rank 1: AllReduce(0) AllReduce(1)
//       → AllReduce 0 and AllReduce 1: both came; message 0 from 0 to 1: the sender came
//
// A collective ends once all ranks of its communicator came to it with equal arguments, a message
// once both ends came to it with equal sizes. A call waits for what is before it on its own stream,
// and for nothing else; the calls of a group wait for each other. Where a Send ends by itself, what
// is behind it does not wait for its Recv; a rank that sends to itself always does.

/// What meets: a collective of a communicator, or the k-th message from one rank to another.
struct MeetingKey {
  int communicator = -1;
  int sender = -1;    ///< Rank in the communicator; -1: a collective.
  int receiver = -1;  ///< Likewise.
  uint64_t index = 0;

  auto operator<=>(const MeetingKey&) const = default;
};

/// What has to be equal on all sides: function, count, datatype, reduction and root; of a message
/// its size alone.
using CallTerms = std::tuple<std::string, int64_t, int, int, int>;

/// Calls of a rank that are launched together: a group, or one call.
struct LaunchUnit {
  std::vector<size_t> calls;   ///< Of the rank.
  std::vector<size_t> behind;  ///< Units of the rank that wait for it.
  size_t waits_for = 0;        ///< Units before it on its streams that have not ended.
  size_t unmet = 0;            ///< Of its calls.
  size_t open = 0;             ///< Likewise those that `behind` waits for.

  bool has_ended() const { return waits_for == 0 && unmet == 0; }
};

/// A unit of a rank of the plan.
struct UnitOfRank {
  int rank = -1;
  size_t unit = 0;
  bool is_buffered = false;  ///< By a Send that ended before it was met.
};

/// Who came to a call, and whether that is the same call for all.
struct CallMeeting {
  std::vector<UnitOfRank> units;   ///< In the order in which they came.
  std::optional<CallTerms> terms;  ///< Of the first one.
  bool fails = false;              ///< Some came with other terms, or twice.
};

/// The clean run of a plan, as far as it comes.
struct CallMeetings {
  const ReplayPlan& plan;
  SendEnds sends;
  std::vector<std::map<int, int>> places;      ///< By communicator: rank of the plan to rank in it.
  std::vector<std::vector<LaunchUnit>> units;  ///< By rank of the plan.
  std::map<MeetingKey, CallMeeting> meetings;
};

/// Where that call of a rank of the plan meets others.
MeetingKey meeting_key_of(const CallMeetings& met, const PlannedCall& call, int rank) {
  if (!is_message(call.op)) return {call.communicator, -1, -1, call.index};
  const int own = met.places[static_cast<size_t>(call.communicator)].at(rank);
  return call.op == "Send" ? MeetingKey{call.communicator, own, call.root, call.index}
                           : MeetingKey{call.communicator, call.root, own, call.index};
}

/// How many have to come there.
size_t expected_at(const ReplayPlan& plan, const MeetingKey& key) {
  if (key.sender >= 0) return 2;
  return plan.communicators[static_cast<size_t>(key.communicator)].ranks.size();
}

CallTerms terms_of(const PlannedCall& call) {
  if (is_message(call.op)) return {"", call.count, call.datatype, 0, -1};
  return {call.op, call.count, call.datatype, call.redop, call.root};
}

std::vector<std::map<int, int>> places_in(const ReplayPlan& plan) {
  std::vector<std::map<int, int>> places;
  for (const PlannedCommunicator& comm : plan.communicators) {
    std::map<int, int>& of_rank = places.emplace_back();
    for (size_t r = 0; r < comm.ranks.size(); ++r) of_rank[comm.ranks[r]] = static_cast<int>(r);
  }
  return places;
}

/// Calls that are launched together, in order; nobody waits for anybody yet.
std::vector<LaunchUnit> launched_together(const PlannedRank& rank) {
  std::vector<LaunchUnit> units;
  int group = -1;
  for (size_t c = 0; c < rank.calls.size(); ++c) {
    const PlannedCall& call = rank.calls[c];
    if (call.made_in == MadeIn::Defect) continue;
    if (units.empty() || call.group < 0 || call.group != group) units.emplace_back();
    group = call.group;
    units.back().calls.push_back(c);
    ++units.back().unmet;
    ++units.back().open;
  }
  return units;
}

std::vector<LaunchUnit> units_of(const PlannedRank& rank) {
  std::vector<LaunchUnit> units = launched_together(rank);
  std::map<int, size_t> last_on;  // By stream.
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

std::vector<UnitOfRank> first_units(const CallMeetings& met) {
  std::vector<UnitOfRank> ready;
  for (size_t r = 0; r < met.units.size(); ++r) {
    for (size_t u = 0; u < met.units[r].size(); ++u) {
      if (met.units[r][u].waits_for == 0) ready.push_back({static_cast<int>(r), u});
    }
  }
  return ready;
}

/// One call less keeps those behind the unit; who waits for nothing any more becomes ready.
void release(CallMeetings& met, const UnitOfRank& held, std::vector<UnitOfRank>& ready) {
  std::vector<LaunchUnit>& units = met.units[static_cast<size_t>(held.rank)];
  if (--units[held.unit].open > 0) return;
  for (const size_t behind : units[held.unit].behind) {
    if (--units[behind].waits_for == 0) ready.push_back({held.rank, behind});
  }
}

void end(CallMeetings& met, const CallMeeting& meeting, std::vector<UnitOfRank>& ready) {
  for (const UnitOfRank& unit : meeting.units) {
    --met.units[static_cast<size_t>(unit.rank)][unit.unit].unmet;
    if (!unit.is_buffered) release(met, unit, ready);
  }
}

bool ends_by_itself(const CallMeetings& met, const PlannedCall& call, const MeetingKey& key) {
  return met.sends == SendEnds::ByItself && call.op == "Send" && key.sender != key.receiver;
}

void launch(CallMeetings& met, const UnitOfRank& launched, std::vector<UnitOfRank>& ready) {
  const auto rank = static_cast<size_t>(launched.rank);
  for (const size_t c : met.units[rank][launched.unit].calls) {
    const PlannedCall& call = met.plan.ranks[rank].calls[c];
    const MeetingKey key = meeting_key_of(met, call, launched.rank);
    CallMeeting& meeting = met.meetings[key];
    if (!meeting.terms) meeting.terms = terms_of(call);
    const bool is_buffered = ends_by_itself(met, call, key);
    meeting.units.push_back({launched.rank, launched.unit, is_buffered});
    if (is_buffered) release(met, launched, ready);
    const size_t expected = expected_at(met.plan, key);
    meeting.fails |= *meeting.terms != terms_of(call) || meeting.units.size() > expected;
    if (!meeting.fails && meeting.units.size() == expected) end(met, meeting, ready);
  }
}

/// Carries out all calls but those of the defect run. `plan` outlives what is returned.
CallMeetings meet_calls(const ReplayPlan& plan, SendEnds sends) {
  CallMeetings met{
      .plan = plan, .sends = sends, .places = places_in(plan), .units = {}, .meetings = {}};
  for (const PlannedRank& rank : plan.ranks) met.units.push_back(units_of(rank));
  std::vector<UnitOfRank> ready = first_units(met);
  while (!ready.empty()) {
    const UnitOfRank next = ready.back();
    ready.pop_back();
    launch(met, next, ready);
  }
  return met;
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

/// Ranks of the plan that did not come to it.
std::set<int> absent_from(const ReplayPlan& plan, const MeetingKey& key,
                          const CallMeeting& meeting) {
  if (meeting.units.size() >= expected_at(plan, key)) return {};
  const auto& ranks = plan.communicators[static_cast<size_t>(key.communicator)].ranks;
  std::set<int> absent(ranks.begin(), ranks.end());
  if (key.sender >= 0) {
    absent = {ranks[static_cast<size_t>(key.sender)], ranks[static_cast<size_t>(key.receiver)]};
  }
  for (const UnitOfRank& unit : meeting.units) absent.erase(unit.rank);
  return absent;
}

/// The call by which the first rank came to it.
const PlannedCall& call_at(const CallMeetings& met, const MeetingKey& key,
                           const CallMeeting& meeting) {
  const UnitOfRank& first = meeting.units.front();
  const auto rank = static_cast<size_t>(first.rank);
  const std::vector<PlannedCall>& own = met.plan.ranks[rank].calls;
  const std::vector<size_t>& calls = met.units[rank][first.unit].calls;
  const auto found = std::find_if(calls.begin(), calls.end(), [&](size_t c) {
    return meeting_key_of(met, own[c], first.rank) == key;
  });
  return own[*found];
}

/// The other end of a message.
void turn_round(const MeetingKey& key, PlannedCall& call) {
  const bool has_sent = call.op == "Send";
  call.op = has_sent ? "Recv" : "Send";
  call.root = has_sent ? key.sender : key.receiver;
  call.send_offset = call.recv_offset = 0;
}

/// The call, or another one in its place, is among the rank's own.
bool makes(const ReplayPlan& plan, const AwaitedCall& awaited) {
  const auto& calls = plan.ranks[static_cast<size_t>(awaited.rank)].calls;
  return std::any_of(calls.begin(), calls.end(), [&](const PlannedCall& own) {
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
  const CallMeetings met = meet_calls(plan, sends);
  std::vector<AwaitedCall> result;
  for (const auto& [key, meeting] : met.meetings) {
    const std::set<int> absent = absent_from(plan, key, meeting);
    const bool is_late = !meeting.fails && !absent.empty() &&
                         std::includes(late.begin(), late.end(), absent.begin(), absent.end());
    if (!is_late) continue;
    for (const int rank : absent) {
      AwaitedCall awaited{rank, call_at(met, key, meeting)};
      if (key.sender >= 0) turn_round(key, awaited.call);
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

bool is_at(const PlannedCall& call, const FrontLine& front, bool by_message) {
  return call.communicator == front.communicator && call.index == front.index &&
         is_message(call.op) == by_message;
}

/// A message has several of its number; the one that is meant is the missing rank's.
bool comes_to(const ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  const std::vector<std::vector<bool>> completed = completed_calls(plan, sends);
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
  const CallMeetings met = meet_calls(plan, sends);
  std::vector<std::vector<bool>> result;
  for (size_t r = 0; r < met.units.size(); ++r) {
    result.emplace_back(plan.ranks[r].calls.size(), false);
    for (const LaunchUnit& unit : met.units[r]) {
      if (!unit.has_ended()) continue;
      for (const size_t call : unit.calls) result.back()[call] = true;
    }
  }
  return result;
}

int extend_clean_run(ReplayPlan& plan, const FrontLine& front, bool by_message, SendEnds sends) {
  constexpr int kMostRounds = 64;
  int others = 0;
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
      insert_call(completed[static_cast<size_t>(one.rank)], std::move(one), plan);
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
