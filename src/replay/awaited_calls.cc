#include "replay/awaited_calls.h"

#include <algorithm>
#include <set>
#include <utility>

#include "replay/call_meetings.h"
#include "replay/call_shape.h"

namespace ncclog {
namespace {

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

}  // namespace

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

}  // namespace ncclog
