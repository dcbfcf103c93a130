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

/// Those of `debts` whose owing rank is one that `is_named`, each once.
template <typename IsNamed>
std::vector<Membership> owing_ranks(const std::vector<Debt>& debts, IsNamed is_named) {
  std::set<Membership> owing;
  for (const Debt& debt : debts) {
    if (is_named(debt.owing)) owing.insert(debt.owing);
  }
  return {owing.begin(), owing.end()};
}

/// Either end may have departed where nobody is named: the other one may have made one too many.
std::vector<Membership> both_ends(const std::vector<Debt>& debts) {
  std::set<Membership> ends;
  for (const Debt& debt : debts) {
    ends.insert(debt.owing);
    ends.insert(debt.waiting);
  }
  return {ends.begin(), ends.end()};
}

/// Messages owed by those who hold the job up, none of whom may wait for a rank without log.
std::vector<Debt> certain_debts(const Search& search, const Waits& waits) {
  std::set<size_t> owed;
  for (const Holdup& holdup : waits.holdups) {
    const bool is_unknown = std::any_of(
        holdup.waiters.begin(), holdup.waiters.end(),
        [&](const Waiter& waiter) { return may_wait_for_unknown(search.job, waits, waiter); });
    if (!is_unknown) owed.insert(holdup.unmatched.begin(), holdup.unmatched.end());
  }
  std::vector<Debt> debts;
  for (const size_t m : owed) {
    if (const auto debt = debt_of(search, waits.unmatched[m])) debts.push_back(*debt);
  }
  return debts;
}

/// Whom the suspicion blames of those who owe, else those who wait for nobody themselves. One that
/// names both ends of a message leaves open which of them it was.
std::vector<Membership> told_of(const Search& search, const Waits& waits,
                                const std::vector<Debt>& debts) {
  const bool names_both_ends = std::any_of(debts.begin(), debts.end(), [&](const Debt& debt) {
    return search.is_blamed(debt.owing) && search.is_blamed(debt.waiting);
  });
  auto told = owing_ranks(debts, [&](const Membership& one) { return search.is_blamed(one); });
  if (!told.empty() && !names_both_ends) return told;
  const std::vector<Holdup> idle = idle_holdups(search.job, waits);
  return owing_ranks(debts, [&](const Membership& one) {
    return std::any_of(idle.begin(), idle.end(), [&](const Holdup& holdup) {
      return holdup.waiters.front() == waiter_of(rank_of(search.job, one));
    });
  });
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
  const std::vector<Debt> debts = certain_debts(search, waits);
  if (debts.empty()) return {};
  const std::vector<Membership> told = told_of(search, waits, debts);
  const auto first = std::find_if(debts.begin(), debts.end(), [&](const Debt& debt) {
    return std::find(told.begin(), told.end(), debt.owing) != told.end();
  });
  RecordedDefect defect = defect_of(first == debts.end() ? debts.front() : *first);
  defect.departed = told.empty() ? both_ends(debts) : told;
  for (const Debt& debt : debts) {
    defect.added.push_back({{debt.owing, debt.index, debt.owed}, std::nullopt});
  }
  return defect;
}

}  // namespace ncclog
