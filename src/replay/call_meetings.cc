#include "replay/call_meetings.h"

#include <set>
#include <utility>

#include "replay/call_shape.h"

namespace ncclog {
namespace {

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

}  // namespace

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

MeetingKey meeting_key_of(const CallMeetings& met, const PlannedCall& call, int rank) {
  if (!is_message(call.op)) return {call.communicator, -1, -1, call.index};
  const int own = met.places[static_cast<size_t>(call.communicator)].at(rank);
  return call.op == "Send" ? MeetingKey{call.communicator, own, call.root, call.index}
                           : MeetingKey{call.communicator, call.root, own, call.index};
}

size_t expected_at(const ReplayPlan& plan, const MeetingKey& key) {
  if (key.sender >= 0) return 2;
  return plan.communicators[static_cast<size_t>(key.communicator)].ranks.size();
}

}  // namespace ncclog
