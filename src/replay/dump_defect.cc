#include "replay/dump_defect.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "replay/dump_calls.h"

namespace ncclog {
namespace {

/// Where the group stands still: who came to the verdict's call, and who did not.
FrontLine front_of(const DumpedGroup& dumped, int communicator, const SeatOfRank& seat_of,
                   const RecorderVerdict& verdict) {
  FrontLine front{.communicator = communicator,
                  .index = static_cast<uint64_t>(verdict.number - 1),
                  .entered = {},
                  .missing = {}};
  for (const RecordedRank* rank : dumped.ranks) {
    const bool has_called = rank->call(verdict.number) != nullptr;
    (has_called ? front.entered : front.missing).push_back(seat_of.at(rank->rank));
  }
  return front;
}

/// In one rank's calls, for its own call at the front.
void put_right_on(const PlannedCall& right, const FrontLine& front,
                  std::vector<PlannedCall>& calls) {
  const auto own = std::find_if(calls.begin(), calls.end(), [&](const PlannedCall& call) {
    return call.communicator == front.communicator && call.index == front.index;
  });
  if (own == calls.end()) return;
  PlannedCall instead = right;
  instead.communicator = own->communicator;
  instead.stream = own->stream;
  instead.made_in = MadeIn::Clean;
  for (PlannedCall& call : calls) {
    const bool is_later = call.communicator == instead.communicator && call.index >= right.index;
    if (is_later) call.made_in = MadeIn::Defect;
  }
  calls.insert(own, std::move(instead));
}

}  // namespace

DefectKind kind_of(const RecorderVerdict& verdict) {
  switch (verdict.kind) {
    case RecordedKind::Late:
      return DefectKind::MissingCall;
    case RecordedKind::Mismatch:
      return verdict.named.empty() ? DefectKind::None : DefectKind::OtherCall;
    case RecordedKind::Entered:
      return DefectKind::Stall;
    case RecordedKind::Nothing:
      break;
  }
  return DefectKind::None;
}

DumpedDefect dumped_defect(const std::vector<DumpedGroup>& groups, const SeatOfRank& seat_of,
                           const RecorderVerdict& verdict) {
  DumpedDefect defect;
  defect.split = verdict.kind == RecordedKind::Mismatch && verdict.named.empty();
  const auto dumped = std::find_if(groups.begin(), groups.end(), [&](const DumpedGroup& one) {
    return one.group->name == verdict.group;
  });
  const DefectKind kind = kind_of(verdict);
  if (dumped == groups.end() || kind == DefectKind::None) return defect;
  const auto difference = recorded_difference(*dumped->group);
  if (difference && kind == DefectKind::OtherCall) defect.right = difference->camps.front().call;
  defect.hypothesis.kind = kind;
  defect.hypothesis.departed = seats_of(seat_of, verdict.named);
  defect.hypothesis.front =
      front_of(*dumped, static_cast<int>(dumped - groups.begin()), seat_of, verdict);
  return defect;
}

void put_right(const std::vector<DumpedGroup>& groups, const DumpedDefect& defect,
               ReplayPlan& plan) {
  if (defect.right == nullptr) return;
  const FrontLine& front = *defect.hypothesis.front;
  const DumpedGroup& dumped = groups[static_cast<size_t>(front.communicator)];
  const auto right = call_of_entry(*defect.right, dumped.group->ranks.size());
  if (!right) return;
  for (const int seat : defect.hypothesis.departed) {
    put_right_on(*right, front, plan.ranks[static_cast<size_t>(seat)].calls);
  }
}

}  // namespace ncclog
