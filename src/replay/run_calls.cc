#include "replay/run_calls.h"

#include "replay/call_shape.h"

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

}  // namespace ncclog
