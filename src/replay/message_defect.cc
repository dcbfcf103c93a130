#include "replay/message_defect.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "diagnose/message_departures.h"

namespace ncclog {
namespace {

/// Messages between two ranks of the plan, one of which owes some.
struct Debt {
  Membership owing;
  Membership waiting;
  CallSignature owed;  ///< Function and peer.
  uint64_t index = 0;  ///< Of the first one for which there is no other end.
  const UnmatchedMessages* messages = nullptr;
};

std::optional<Debt> debt_of(const Search& search, const UnmatchedMessages& messages) {
  const bool receiver_owes = messages.sent > messages.received;
  const Membership sender{messages.communicator, messages.sender};
  const Membership receiver{messages.communicator, messages.receiver};
  const bool are_there = search.members.contains(sender) && search.members.contains(receiver);
  if (messages.sizes_differ || !are_there) return std::nullopt;
  Debt debt{receiver_owes ? receiver : sender, receiver_owes ? sender : receiver, {}};
  debt.owed.op = receiver_owes ? "Recv" : "Send";
  debt.owed.root = rank_of(search.job, debt.waiting).rank;
  debt.index = std::min(messages.sent, messages.received);
  debt.messages = &messages;
  return debt;
}

/// The member of a communicator that is a waiter.
Membership member_of(const Job& job, int communicator, const Waiter& waiter) {
  const auto& ranks = job.communicators[static_cast<size_t>(communicator)].ranks;
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [&](const CommRank& rank) { return waiter_of(rank) == waiter; });
  return {communicator, static_cast<int>(found - ranks.begin())};
}

NumberedCall numbered(const Job& job, const MessageDeparture& departure) {
  const RankCall& made = departure.made;
  NumberedCall call{member_of(job, made.line.communicator, departure.waiter), made.index, {}};
  call.call.op = made.op;
  if (made.line.is_message()) {
    call.call.root = made.receives ? made.line.sender : made.line.receiver;
  }
  return call;
}

RecordedDefect defect_of(const Debt& debt) {
  return {.kind = DefectKind::Message,
          .communicator = debt.owing.communicator,
          .index = debt.index,
          .entered = {debt.waiting},
          .missing = {debt.owing},
          .departed = {debt.owing}};
}

RecordedDefect defect_of(const Search& search, const Debt& debt,
                         const MessageDeparture& departure) {
  RecordedDefect defect = defect_of(debt);
  defect.index = departure.index;
  defect.added = {{{debt.owing, departure.index, debt.owed}, numbered(search.job, departure)}};
  return defect;
}

std::vector<Membership> owing_in(const std::vector<AddedCall>& added) {
  std::set<Membership> owing;
  for (const AddedCall& one : added) owing.insert(one.call.by);
  return {owing.begin(), owing.end()};
}

}  // namespace

RecordedDefect from_departed_message(const Search& search, const Waits& waits) {
  RecordedDefect defect;
  bool has_blamed = false;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    const auto debt = debt_of(search, messages);
    const auto departure = debt ? message_departure(search.job, messages) : std::nullopt;
    if (!departure || search.holding(waits, {debt->owing}).empty()) continue;
    const bool is_blamed = search.is_blamed(debt->owing);
    if (defect.kind != DefectKind::None && (!is_blamed || has_blamed)) continue;
    has_blamed = is_blamed;
    defect = defect_of(search, *debt, *departure);
  }
  return defect;
}

RecordedDefect from_messages(const Search& search, const Waits& waits) {
  RecordedDefect defect;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    const auto debt = debt_of(search, messages);
    if (!debt || search.holding(waits, {debt->owing}).empty()) continue;
    const std::vector<AddedCall> before = std::move(defect.added);
    const bool is_first = defect.kind == DefectKind::None;
    const bool is_better =
        !is_first && search.is_blamed(debt->owing) && !search.is_blamed(defect.departed.front());
    if (is_first || is_better) defect = defect_of(*debt);
    defect.added = before;
    defect.added.push_back({{debt->owing, debt->index, debt->owed}, std::nullopt});
  }
  const bool is_told = !defect.departed.empty() && search.is_blamed(defect.departed.front());
  if (!is_told) defect.departed = owing_in(defect.added);
  return defect;
}

}  // namespace ncclog
