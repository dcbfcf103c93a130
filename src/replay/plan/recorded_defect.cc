#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/collectives.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/outcome/stop_evidence.h"
#include "model/ledger/call_ledger.h"
#include "replay/plan/build_plan.h"

namespace ncclog {
namespace {

// What is known of a job while its defect is looked for.

/// `job` and `suspicion` must outlive it.
struct Search {
  const Job& job;
  const Suspicion& suspicion;
  std::set<Membership> members;
  const Waits& waits;
  std::vector<Divergence> divergences;  ///< What the many did not make, else what may be such.
  std::vector<Blocker> idle;

  const Communicator& comm(int communicator) const { return job.communicators[communicator]; }
  Waiter waiter(const Membership& member) const { return waiter_of(rank_of(job, member)); }
  const CallSequence& collectives(const Membership& member) const {
    return calls_of(job, rank_of(job, member))->collectives;
  }
  /// Those that a plan may hold.
  std::vector<Membership> known(int communicator, const std::vector<int>& ranks) const {
    std::vector<Membership> result;
    for (const int r : ranks) {
      if (members.contains({communicator, r})) result.push_back({communicator, r});
    }
    return result;
  }
  std::vector<Membership> known_of(int communicator) const {
    return {members.lower_bound({communicator, -1}), members.lower_bound({communicator + 1, -1})};
  }
  bool is_blamed(const Membership& member) const {
    const int process = rank_of(job, member).process;
    const int rank = process < 0 ? -1 : job.processes[process].rank;
    return rank >= 0 && is_among(suspicion.ranks, rank);
  }
  const Divergence* divergence_of(const Membership& member) const {
    const auto found = std::ranges::find(divergences, waiter(member), &Divergence::waiter);
    return found == divergences.end() ? nullptr : &*found;
  }
  /// It waits for nobody, as far as the logs can tell.
  bool is_idle(const Membership& member) const {
    return std::ranges::any_of(
        idle, [&](const Blocker& blocker) { return blocker.waiters.front() == waiter(member); });
  }
  /// It holds the job up, alone or in a circle, as far as the logs can tell.
  bool is_holding(const Membership& member) const {
    return blocks(waits, waiter(member)) && !may_wait_for_unknown(job, waits, waiter(member));
  }
  /// The waiter is one of those ranks of the communicator.
  bool is_one_of(int communicator, const std::vector<int>& ranks, const Waiter& who) const {
    return std::ranges::any_of(ranks, [&](int r) { return waiter({communicator, r}) == who; });
  }
  bool is_suspected(int communicator) const {
    return comm(communicator).id == suspicion.communicator;
  }
};

template <typename IsSuch>
std::vector<Membership> those(const std::vector<Membership>& members, IsSuch is_such) {
  std::vector<Membership> result;
  std::ranges::copy_if(members, std::back_inserter(result), is_such);
  return result;
}

/// The camp that is right: the largest, unless only others are not blamed.
size_t right_camp(const Search& search, int communicator, const std::vector<CallCamp>& camps) {
  const auto is_blamed = [&](const CallCamp& camp) {
    return std::ranges::any_of(camp.members, [&](int r) {
      return search.is_blamed({communicator, r});
    });
  };
  const auto right = std::ranges::find_if_not(camps, is_blamed);
  return right == camps.end() ? 0 : static_cast<size_t>(right - camps.begin());
}

/// True if, somewhere before call `index`, `next` followed the call that stands there.
bool followed_before(const CallSequence& calls, uint64_t index, const CallSignature& next) {
  const PlacedCall* at = calls.call(index);
  if (at == nullptr) return false;
  // A pair that reaches the place itself says nothing about what was usual before it.
  for (uint64_t i = calls.kept_from(); i + 1 < index; ++i) {
    const PlacedCall* call = calls.call(i);
    const PlacedCall* behind = calls.call(i + 1);
    if (call == nullptr || behind == nullptr) continue;
    if (comparable(call->call) == comparable(at->call) && comparable(behind->call) == next) {
      return true;
    }
  }
  return false;
}

/// What the member did that others did not: it left out a call, made one more, or another one.
DefectKind kind_of_defect(const CallSequence& right, const CallSequence& odd, uint64_t index) {
  const PlacedCall* wanted = right.call(index);
  const PlacedCall* made = odd.call(index);
  if (wanted == nullptr || made == nullptr) return DefectKind::OtherCall;
  const CallSignature call = comparable(made->call);
  const PlacedCall* next_right = right.call(index + 1);
  if (next_right != nullptr && comparable(next_right->call) == call) return DefectKind::MissingCall;
  // Where calls of one function repeat themselves, what follows is alike in any case.
  if (call.op == wanted->call.op && !followed_before(right, index, call)) {
    return DefectKind::OtherCall;
  }
  const PlacedCall* next_odd = odd.call(index + 1);
  if (next_odd != nullptr && comparable(next_odd->call) == comparable(wanted->call)) {
    return DefectKind::ExtraCall;
  }
  return followed_before(right, index, call) ? DefectKind::MissingCall : DefectKind::OtherCall;
}

/// Ranks of a communicator called different things at one place.
RecordedDefect from_difference(const Search& search) {
  RecordedDefect defect;
  int communicator = -1;  // The suspected one, else the first.
  for (int c = 0; c < static_cast<int>(search.job.communicators.size()); ++c) {
    const auto& difference = search.comm(c).difference;
    if (!difference || !difference->is_exact() || difference->camps.size() < 2) continue;
    if (communicator < 0 || search.is_suspected(c)) communicator = c;
    if (search.is_suspected(c)) break;
  }
  if (communicator < 0) return defect;
  const FirstDifference& difference = *search.comm(communicator).difference;
  const size_t right = right_camp(search, communicator, difference.camps);
  std::set<int> came;  // To the call, or another one in its place.
  for (size_t c = 0; c < difference.camps.size(); ++c) {
    const auto members = search.known(communicator, difference.camps[c].members);
    defect.entered.insert(defect.entered.end(), members.begin(), members.end());
    if (c != right) defect.diverged.insert(defect.diverged.end(), members.begin(), members.end());
    came.insert(difference.camps[c].members.begin(), difference.camps[c].members.end());
  }
  std::ranges::sort(defect.entered);
  const auto witnesses = search.known(communicator, difference.camps[right].members);
  if (defect.diverged.empty() || witnesses.empty()) return {};
  defect.missing = those(search.known_of(communicator),
                         [&](const Membership& member) { return !came.contains(member.member); });
  const CallSignature& call = difference.camps[right].call.call;
  for (const auto* members : {&defect.missing, &defect.diverged}) {
    for (const Membership& member : *members) {
      defect.added.push_back({member, difference.index, call});
      const PlacedCall* made = search.collectives(member).call(difference.index);
      if (made != nullptr) defect.before[member] = {member, difference.index, made->call};
    }
  }
  defect.kind = kind_of_defect(search.collectives(witnesses.front()),
                               search.collectives(defect.diverged.front()), difference.index);
  defect.communicator = communicator;
  defect.index = difference.index;
  return defect;
}

/// The waiter's call at which it left its program, as a call of the communicator where it made it.
std::optional<RecordedCall> divergence_call(const Search& search, const Divergence& divergence) {
  const Communicator& comm = search.comm(divergence.communicator);
  for (size_t r = 0; r < comm.ranks.size(); ++r) {
    if (waiter_of(comm.ranks[r]) != divergence.waiter) continue;
    const Membership member{divergence.communicator, static_cast<int>(r)};
    const CallSequence& calls = search.collectives(member);
    for (uint64_t i = calls.kept_from(); i < calls.size(); ++i) {
      if (calls.call(i)->where != divergence.call.where) continue;
      return RecordedCall{member, i, divergence.call.call};
    }
  }
  return std::nullopt;
}

/// Those that are behind and hold the others up; none if that cannot be told.
std::vector<Membership> guilty(const Search& search, const CallFront& front) {
  const auto behind = search.known(front.communicator, front.behind);
  auto result = those(behind, [&](const auto& member) { return search.is_blamed(member); });
  if (!result.empty()) return result;
  result =
      those(behind, [&](const auto& member) { return search.divergence_of(member) != nullptr; });
  if (!result.empty()) return result;
  return those(behind, [&](const auto& member) { return search.is_idle(member); });
}

/// The front that others wait for: of the suspected communicator, else with a rank that is blamed
/// or diverged, else the one in which most ranks wait.
const CallFront* choose_front(const Search& search) {
  const auto weight = [&](const CallFront& front) {
    const auto behind = search.known(front.communicator, front.behind);
    const bool diverged = std::ranges::any_of(behind, [&](const Membership& member) {
      return search.is_blamed(member) || search.divergence_of(member) != nullptr;
    });
    return std::tuple(diverged, search.is_suspected(front.communicator), front.ahead.size());
  };
  const CallFront* chosen = nullptr;
  for (const CallFront& front : search.waits.fronts) {
    if (!front.is_open() || search.known(front.communicator, front.ahead).empty()) continue;
    if (search.known(front.communicator, front.behind).empty()) continue;
    if (chosen == nullptr || weight(*chosen) < weight(front)) chosen = &front;
  }
  return chosen;
}

/// Where the diverged rank waits, alone, in a call that its partners did not make; nullptr: it does
/// not.
const CallFront* ran_ahead(const Search& search, const Divergence& divergence) {
  const auto& fronts = search.waits.fronts;
  const auto found = std::ranges::find_if(fronts, [&](const CallFront& front) {
    return front.communicator == divergence.communicator && front.ahead.size() == 1 &&
           search.is_one_of(front.communicator, front.ahead, divergence.waiter);
  });
  return found == fronts.end() ? nullptr : &*found;
}

/// A rank made a call that its partners did not make, where ranks like it made another one.
RecordedDefect from_extra_call(const Search& search) {
  for (const Divergence& divergence : search.divergences) {
    const auto made = divergence_call(search, divergence);
    const CallFront* front = ran_ahead(search, divergence);
    if (!made || !search.members.contains(made->by) || front == nullptr) continue;
    const auto behind = search.known(front->communicator, front->behind);
    const bool is_behind = std::ranges::any_of(search.waits.fronts, [&](const CallFront& one) {
      return search.is_one_of(one.communicator, one.behind, divergence.waiter);
    });
    if (made->index != front->front || is_behind || behind.empty()) continue;
    return {.kind = DefectKind::ExtraCall,
            .communicator = front->communicator,
            .index = front->front,
            .entered = {made->by},
            .missing = behind,
            .diverged = {made->by},
            .struck = {*made}};
  }
  return {};
}

/// Whoever is blamed made more calls than the others, who had given up: it came too late to the
/// last call that they made. Where it owes messages, it may have left those out instead.
RecordedDefect from_late_entry(const Search& search) {
  RecordedDefect defect;
  for (const CallFront& front : search.waits.fronts) {
    const auto ahead = search.known(front.communicator, front.ahead);
    const auto behind = search.known(front.communicator, front.behind);
    const auto is_blamed = [&](const Membership& member) { return search.is_blamed(member); };
    // It has not made all messages that others wait for.
    const auto owes = [&](const Membership& member) {
      return std::ranges::any_of(search.waits.unmatched, [&](const auto& messages) {
        const Membership owing{messages.communicator, messages.owing()};
        return !messages.sizes_differ && search.waiter(owing) == search.waiter(member);
      });
    };
    const bool is_late = !ahead.empty() && ahead.size() < behind.size() && front.front > 0 &&
                         std::ranges::all_of(ahead, is_blamed) &&
                         std::ranges::none_of(ahead, owes) &&
                         std::ranges::none_of(behind, is_blamed);
    const bool is_better = defect.kind == DefectKind::None || behind.size() > defect.entered.size();
    if (!is_late || !is_better) continue;
    const PlacedCall* last = search.collectives(behind.front()).call(front.front - 1);
    if (last == nullptr) continue;
    defect = {.kind = DefectKind::MissingCall,
              .communicator = front.communicator,
              .index = front.front - 1,
              .entered = behind,
              .missing = ahead,
              .diverged = ahead};
    for (const Membership& member : ahead) {
      defect.late.push_back({member, defect.index, last->call});
    }
  }
  return defect;
}

/// No rank that the logs do not cover can be the one that all wait for.
bool all_are_known(const Search& search) {
  return messages_are_covered(search.job) &&
         std::ranges::all_of(search.waits.fronts, &CallFront::knows_all);
}

/// Some ranks did not come to a call that others entered. With `certain` only if it can be told who
/// held the others up.
RecordedDefect from_front(const Search& search, bool certain) {
  const CallFront* chosen = choose_front(search);
  if (chosen == nullptr) return {};
  const CallFront& front = *chosen;
  const PlacedCall* open = open_call(search.job, front);
  const auto blockers = guilty(search, front);
  if (open == nullptr) return {};
  if (blockers.empty() && (certain || !all_are_known(search))) return {};
  RecordedDefect defect{.kind = DefectKind::MissingCall,
                        .communicator = front.communicator,
                        .index = front.front,
                        .entered = search.known(front.communicator, front.ahead),
                        .missing = search.known(front.communicator, front.behind),
                        .diverged = blockers};
  if (blockers.empty()) {
    defect.diverged =
        those(defect.missing, [&](const auto& member) { return search.is_holding(member); });
  }
  if (defect.diverged.empty()) return {};
  for (const Membership& member : defect.missing) {
    defect.added.push_back({member, front.front, open->call});
    const Divergence* divergence = search.divergence_of(member);
    if (divergence == nullptr) continue;
    const auto before = divergence_call(search, *divergence);
    if (before) defect.before[member] = *before;
    // It is behind here because it waits in a call of its own, which was one too many.
    if (ran_ahead(search, *divergence) != nullptr) defect.kind = DefectKind::ExtraCall;
  }
  return defect;
}

/// Two calls in opposite order, both made by all: nobody is behind, but nobody came on either.
RecordedDefect from_order(const Search& search) {
  for (const Divergence& divergence : search.divergences) {
    const auto made = divergence_call(search, divergence);
    if (!made || !search.members.contains(made->by)) continue;
    return {.kind = DefectKind::OtherCall,
            .communicator = made->by.communicator,
            .index = made->index,
            .entered = search.known_of(made->by.communicator),
            .diverged = {made->by}};
  }
  return {};
}

/// All ranks entered what they called, and the job stopped nevertheless.
RecordedDefect stall(const Search& search) {
  if (!search.waits.unmatched.empty() || !all_are_known(search)) return {};
  const CallFront* chosen = nullptr;
  for (const CallFront& front : search.waits.fronts) {
    if (front.is_open() || front.front == 0) continue;
    if (chosen == nullptr || search.is_suspected(front.communicator)) chosen = &front;
  }
  if (chosen == nullptr) return {};
  const auto entered = search.known_of(chosen->communicator);
  if (entered.empty()) return {};
  return {.kind = DefectKind::Stall,
          .communicator = chosen->communicator,
          .index = chosen->front - 1,
          .entered = entered};
}

// Which Send without its Recv, or the other way round, made the job stand still?
//
//   rank 2 called AllReduce where it had always sent to rank 3, which waits for its 6th message
//       → a message; rank 2 would have to send before that AllReduce
//   nothing of that sort, but rank 2 owes it and nobody keeps it from sending
//       → likewise; where the message belongs is not known

/// A defect of two ranks of the plan, one of which owes the other some messages. Added is the first
/// one without another end. nullopt: they are not both in the plan, or none is owed.
std::optional<RecordedDefect> debt_of(const Search& search, const UnmatchedMessages& messages) {
  const Membership owing{messages.communicator, messages.owing()};
  const Membership waiting{messages.communicator, messages.waiting()};
  const bool are_there = search.members.contains(owing) && search.members.contains(waiting);
  if (messages.sizes_differ || !are_there) return std::nullopt;
  RecordedCall owed{owing, std::min(messages.sent, messages.received), {}};
  owed.call.op = name_of(message_end(messages.receiver_owes()));
  owed.call.root = rank_of(search.job, waiting).rank;
  return RecordedDefect{.kind = DefectKind::Message,
                        .communicator = messages.communicator,
                        .index = owed.index,
                        .entered = {waiting},
                        .missing = {owing},
                        .diverged = {owing},
                        .added = {owed}};
}

/// The member of a communicator that is a waiter.
Membership member_of(const Job& job, int communicator, const Waiter& waiter) {
  const auto& ranks = job.communicators[communicator].ranks;
  const auto found =
      std::ranges::find_if(ranks, [&](const CommRank& rank) { return waiter_of(rank) == waiter; });
  return {communicator, static_cast<int>(found - ranks.begin())};
}

RecordedCall numbered(const Job& job, const ProgramDivergence& divergence) {
  const RankCall& made = divergence.made;
  RecordedCall call{member_of(job, made.line.communicator, divergence.waiter), made.index, {}};
  call.call.op = made.op;
  if (made.line.is_message()) {
    call.call.root = made.receives ? made.line.sender : made.line.receiver;
  }
  return call;
}

/// Messages owed by those who hold the job up, none of whom may wait for a rank without log.
std::vector<RecordedDefect> certain_debts(const Search& search) {
  std::set<size_t> owed;
  for (const Blocker& blocker : search.waits.blockers) {
    const bool is_unknown = std::ranges::any_of(blocker.waiters, [&](const Waiter& waiter) {
      return may_wait_for_unknown(search.job, search.waits, waiter);
    });
    if (!is_unknown) owed.insert(blocker.unmatched.begin(), blocker.unmatched.end());
  }
  std::vector<RecordedDefect> debts;
  for (const size_t m : owed) {
    if (auto debt = debt_of(search, search.waits.unmatched[m])) debts.push_back(std::move(*debt));
  }
  return debts;
}

/// Whom the suspicion blames of those who owe, else those who wait for nobody themselves. One that
/// names both ends of a message leaves open which of them it was.
std::vector<Membership> told_of(const Search& search, const std::vector<RecordedDefect>& debts) {
  std::set<Membership> owing;
  for (const RecordedDefect& debt : debts) owing.insert(debt.missing.front());
  const std::vector<Membership> all(owing.begin(), owing.end());
  auto told = those(all, [&](const auto& one) { return search.is_blamed(one); });
  const bool names_both_ends = std::ranges::any_of(debts, [&](const RecordedDefect& debt) {
    return search.is_blamed(debt.missing.front()) && search.is_blamed(debt.entered.front());
  });
  if (!told.empty() && !names_both_ends) return told;
  return those(all, [&](const auto& one) { return search.is_idle(one); });
}

/// A message that a rank which holds others up left out where it had always made it; of several one
/// that is blamed.
RecordedDefect from_diverged_message(const Search& search) {
  RecordedDefect defect;
  bool has_blamed = false;
  for (const UnmatchedMessages& messages : search.waits.unmatched) {
    const auto debt = debt_of(search, messages);
    const auto divergence = debt ? message_divergence(search.job, messages) : std::nullopt;
    if (!divergence || !search.is_holding(debt->missing.front())) continue;
    const bool is_blamed = search.is_blamed(debt->missing.front());
    if (defect.kind != DefectKind::None && (!is_blamed || has_blamed)) continue;
    has_blamed = is_blamed;
    defect = *debt;
    defect.index = defect.added.front().index = divergence->usual.index;
    defect.before[debt->missing.front()] = numbered(search.job, *divergence);
  }
  return defect;
}

/// Messages owed by ranks that hold the others up, as far as the logs can tell. Named are those
/// whom the suspicion blames, else those who wait for nobody themselves. Where neither tells,
/// either end of each of these messages may have diverged, and all of them are named.
RecordedDefect from_messages(const Search& search) {
  const std::vector<RecordedDefect> debts = certain_debts(search);
  if (debts.empty()) return {};
  const std::vector<Membership> told = told_of(search, debts);
  const auto first = std::ranges::find_if(debts, [&](const RecordedDefect& debt) {
    return std::ranges::find(told, debt.missing.front()) != told.end();
  });
  RecordedDefect defect = first == debts.end() ? debts.front() : *first;
  defect.diverged = told;
  defect.added.clear();
  std::set<Membership> ends;
  for (const RecordedDefect& debt : debts) {
    defect.added.push_back(debt.added.front());
    ends.insert({debt.missing.front(), debt.entered.front()});
  }
  // Either end may have diverged: the other one may have made one too many.
  if (told.empty()) defect.diverged.assign(ends.begin(), ends.end());
  return defect;
}

}  // namespace

RecordedDefect find_defect(const Job& job, const std::vector<Membership>& members,
                           const Suspicion& suspicion) {
  const Waits& waits = find_waits(job);
  Search search{job, suspicion, {members.begin(), members.end()}, waits, {}, {}};
  RecordedDefect defect = from_difference(search);
  if (defect.kind != DefectKind::None) {
    // Where the job went on, a line may be lost; the analysis knows better.
    const bool is_meant = search.is_suspected(defect.communicator);
    return is_meant || has_failed(job) ? defect : RecordedDefect{};
  }
  if (!has_failed(job)) return {};
  const Divergences divergences = find_divergences(job);
  search.divergences = !divergences.odd.empty()             ? divergences.odd
                       : !divergences.unprecedented.empty() ? divergences.unprecedented
                                                            : divergences.undecided;
  search.idle = idle_blockers(job, waits);
  // From what proves a divergence to what only suggests one. A front without a culprit comes after
  // the messages: whoever owes one may be what that front waits for.
  RecordedDefect (*const kSources[])(const Search&) = {
      from_late_entry,
      from_extra_call,
      from_diverged_message,
      [](const Search& all) { return from_front(all, /*certain=*/true); },
      from_messages,
      [](const Search& all) { return from_front(all, /*certain=*/false); },
      from_order,
  };
  for (const auto source : kSources) {
    defect = source(search);
    if (defect.kind != DefectKind::None) return defect;
  }
  const bool may_stall = !suspicion.id.empty() && stood_still(job);
  return may_stall ? stall(search) : defect;
}

}  // namespace ncclog
