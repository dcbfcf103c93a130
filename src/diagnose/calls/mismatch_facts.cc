// Which calls of ranks do not fit each other: collectives that differ, messages without their end?
//
//   rank 3 called AllReduce of 524288 where ranks 0-2 called AllReduce of 1048576
//       → job.collectives_mismatched = yes, rank 3
//   rank 4 sent to rank 6 once more than rank 6 received
//       → job.messages_unmatched = yes
//   PyTorch's or NCCL's own check says that ranks called different things
//       → job.mismatch_noticed = yes

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/majority.h"
#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/messages.h"
#include "diagnose/calls/rank_programs.h"
#include "diagnose/calls/who_waits.h"
#include "diagnose/facts/fact.h"
#include "diagnose/outcome/stop_evidence.h"
#include "log/messages.h"
#include "model/job.h"
#include "model/ledger/call_ledger.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

// What do checks of PyTorch and of NCCL say about calls that differ, and who is the odd one?
//
//   [rank2]: RuntimeError: Detected mismatch between collectives on ranks. Rank 2 is running
//   collective: CollectiveFingerPrint(SequenceNumber=7, OpType=_ALLGATHER_BASE,
//   TensorShape=[1048576], …), but Rank 1 is running collective: CollectiveFingerPrint(
//   SequenceNumber=7, OpType=_ALLGATHER_BASE, TensorShape=[524288], …)
//       with the same of ranks 0 and 3 → job.mismatch_noticed = yes, rank 1: three of four agree
//       alone → yes, and nobody is named
//
// With TORCH_DISTRIBUTED_DEBUG=DETAIL every rank compares its call with those of all others in the
// order of their ranks, and reports the first that differs. So each report says what its own rank
// called, that the second one called something else, and that the ranks before that one called what
// the first one did. What it quotes of the second one counts only where it is as long as the first:
// else PyTorch reads it wrongly, as "SequenceNumber=0OpType=GATHER". Ranks are those inside the
// group; they are those of the job where every reporter's two numbers are equal.

std::string in_one_line(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_blanks(text)) words.emplace_back(word);
  return printable(to_valid_utf8(join(words, " ")));
}

/// "SequenceNumber=7, OpType=_ALLGATHER_BASE, TensorShape=[524288], TensorDtypes=Float": without
/// what all tensors of one job share.
std::string call_in(std::string_view fingerprint) {
  return in_one_line(fingerprint.substr(0, fingerprint.find(", TensorDeviceTypes=")));
}

/// What stands inside "CollectiveFingerPrint(…)": with the words around it where the line was not
/// printed by a Python exception.
std::string_view bare(std::string_view fingerprint) {
  constexpr std::string_view kBegin = "CollectiveFingerPrint(";
  if (fingerprint.starts_with(kBegin)) fingerprint.remove_prefix(kBegin.size());
  fingerprint = fingerprint.substr(0, fingerprint.find(").Collectives differ"));
  return fingerprint.ends_with(").") ? fingerprint.substr(0, fingerprint.size() - 2) : fingerprint;
}

/// What the reports say about one group.
struct Votes {
  std::map<int, std::string> calls;   ///< Fingerprints, by rank in the group.
  std::map<int, std::string> quoted;  ///< What others say of ranks that say nothing themselves.
  std::map<int, int> processes;       ///< Of those that reported, by rank in the group.
  std::set<int> named;                ///< Ranks in the group that some report names.
  bool contradict = false;            ///< A rank is said to call two things: several calls.
  bool own_numbers = true;  ///< Every reporter's rank in the group is its rank in the job.

  void add(int rank, std::string_view fingerprint) {
    const auto [known, is_new] = calls.try_emplace(rank, bare(fingerprint));
    contradict |= !is_new && known->second != bare(fingerprint);
  }

  /// Which ranks called what; of those that are only quoted, each quotation for itself.
  std::vector<Camp<std::string_view>> camps() const {
    std::map<std::pair<bool, std::string_view>, std::map<int, std::string_view>> by_call;
    for (const auto& [rank, call] : calls) by_call[{false, call}][rank] = call;
    for (const auto& [rank, call] : quoted) by_call[{true, call}][rank] = call;
    return camps_of(by_call);
  }
};

/// Adds the ranks, as far as the job knows them.
void blame_odd(const Job& job, const Votes& votes, const std::vector<int>& odd, FactValue& value) {
  for (const int rank : odd) {
    const auto reporter = votes.processes.find(rank);
    if (reporter != votes.processes.end() && nth_process(job, reporter->second).rank >= 0) {
      value.processes.push_back(reporter->second);
    } else if (votes.own_numbers) {
      blame(process_of_rank(job, rank), rank, value);
    }
  }
}

Votes count_reports(const Job& job, FactValue& value) {
  Votes votes;
  std::map<int, std::set<std::string>> unlike;  // What a rank surely did not call.
  for_each_said<FingerprintMismatch>(job, [&](const Said<FingerprintMismatch>& said) {
    const FingerprintMismatch& seen = said.message;
    votes.add(seen.rank, seen.fingerprint);
    // It reports the first one that differs.
    for (int r = 0; r < std::min(seen.rank, seen.other_rank); ++r) votes.add(r, seen.fingerprint);
    if (seen.other_rank >= 0) {
      votes.quoted.try_emplace(seen.other_rank, bare(seen.other_fingerprint));
      unlike[seen.other_rank].emplace(bare(seen.fingerprint));
    }
    votes.processes[seen.rank] = said.process;
    votes.named.insert(seen.rank);
    if (seen.other_rank >= 0) votes.named.insert(seen.other_rank);
    const int rank = rank_of(job, said.process, said.header());
    votes.own_numbers &= rank < 0 || rank == seen.rank;
    value.evidence.push_back(evidence_of(said.record()));
    value.value = true;
  });
  for (const auto& [rank, call] : votes.calls) {
    votes.quoted.erase(rank);
    votes.contradict |= unlike[rank].contains(call);
  }
  return votes;
}

/// "OpType=ALLREDUCE, TensorShape=[8, 2]" → both fields: commas stand in shapes, too.
std::vector<std::string> fields_of(std::string_view fingerprint) {
  constexpr std::string_view kNames[] = {", OpType=", ", TensorShape=", ", TensorDtypes="};
  std::string text = call_in(fingerprint);
  std::vector<std::string> fields;
  for (const std::string_view name : kNames) {
    const size_t at = text.find(name);
    if (at == text.npos) continue;
    fields.push_back(text.substr(0, at));
    text.erase(0, at + 2);
  }
  fields.push_back(text);
  return fields;
}

/// What is quoted of another rank is printed whole and with as many fields and dimensions as a rank's
/// own call, so that PyTorch read it rightly.
bool is_like(std::string_view one, std::string_view other) {
  const auto shape = [](std::string_view fingerprint) {
    const std::string call = call_in(fingerprint);
    const bool is_cut = std::ranges::count(call, '[') != std::ranges::count(call, ']');
    return std::tuple(call.size() < fingerprint.size(), is_cut, fields_of(call).size(),
                      std::ranges::count(call, ','));
  };
  return shape(one) == shape(other);
}

/// In what two calls differ, and then what is alike:
///   " in _ALLGATHER_BASE: rank 1 TensorShape=[301], the other 2 ranks TensorShape=[300]
///   (SequenceNumber=0, TensorDtypes=Float)"
std::string told_apart(const std::string& one, std::string_view its_call, const std::string& other,
                       std::string_view other_call) {
  constexpr std::string_view kOperation = "OpType=";
  std::vector<std::string> its = fields_of(its_call);
  std::vector<std::string> others = fields_of(other_call);
  std::vector<std::string> alike;
  std::string operation;
  std::erase_if(its, [&](const std::string& field) {
    if (std::erase(others, field) == 0) return false;
    const bool is_operation = field.starts_with(kOperation);
    if (is_operation) operation = " in " + field.substr(kOperation.size());
    if (!is_operation) alike.push_back(field);
    return true;
  });
  return fmt::format("{}: {} {}, {} {}{}", operation, one, join(its, ", "), other,
                     join(others, ", "), alike.empty() ? "" : " (" + join(alike, ", ") + ")");
}

/// ": rank 1 SequenceNumber=5, OpType=ALLREDUCE, …, rank 0 something else".
std::string reported_words(const Votes& votes) {
  Votes told = votes;  // Ranks that no line names are counted elsewhere.
  std::erase_if(told.calls,
                [&](const auto& call) { return !votes.processes.contains(call.first); });
  const std::vector<Camp<std::string_view>> camps = told.camps();
  const bool are_apart =
      camps.size() == 2 && (votes.quoted.empty() || is_like(camps[1].call, camps[0].call));
  if (are_apart) {
    return told_apart(ranks_phrase(camps[0].members), camps[0].call, ranks_phrase(camps[1].members),
                      camps[1].call);
  }
  std::vector<std::string> phrases;
  for (const auto& [call, members] : camps) {
    if (!told.calls.contains(members.front())) continue;
    phrases.push_back(fmt::format("{} {}", ranks_phrase(members), call_in(call)));
  }
  if (!votes.quoted.empty()) {
    std::vector<int> others;
    for (const auto& [rank, call] : votes.quoted) others.push_back(rank);
    phrases.push_back(fmt::format("{} something else", ranks_phrase(others)));
  }
  return ": " + few_of(phrases, kMostNamed, ", ");
}

void add_pytorch(const Job& job, FactValue& value) {
  const Votes votes = count_reports(job, value);
  if (!value.known()) return;
  if (votes.contradict) {
    value.what = "PyTorch's check found ranks in different calls, more than once";
    return;
  }
  const std::vector<Camp<std::string_view>> camps = votes.camps();
  std::string words = reported_words(votes);
  // Ranks that no report tells of might all be on the other side.
  const size_t all = static_cast<size_t>(
      std::max(votes.own_numbers && job.nranks.value_or(0) > 0 ? *job.nranks : 0, 0));
  // Where nobody knows how many there are, ranks that a report passed over make no majority of two.
  const auto agree_by_name = static_cast<size_t>(std::ranges::count_if(
      camps.front().members, [&](int rank) { return votes.named.contains(rank); }));
  std::vector<int> odd = outvoted(camps, [&](size_t agree, size_t heard) {
    if (all >= heard) return is_majority(agree, all);
    return is_clear(agree, heard) || is_majority(agree_by_name, votes.named.size());
  });
  std::ranges::sort(odd);
  if (!odd.empty()) {
    const auto& [usual, others] = camps.front();
    const std::string_view other = camps.back().call;
    const bool is_told =
        camps.size() == 2 && (votes.calls.contains(odd.front()) || is_like(other, usual));
    const std::string who = ranks_phrase(odd) + (votes.own_numbers ? "" : " of its group");
    const std::string rest = fmt::format("the other {} ranks", others.size());
    words = is_told ? told_apart(who, other, rest, usual)
                    : fmt::format(": {} something else, {} {}", who, rest, call_in(usual));
  }
  value.what = "ranks diverge" + words + ", by PyTorch's check";
  blame_odd(job, votes, odd, value);
}

/// job.mismatch_noticed. NCCL's own check names the rank at which it noticed something, and so
/// nobody as guilty.
FactValue mismatch_noticed(const Job& job, const Instance&) {
  FactValue value;
  add_pytorch(job, value);
  for_each_said<MismatchReported>(job, [&](const Said<MismatchReported>& said) {
    if (said.message.text.find("Mismatched") == std::string_view::npos) return;
    value.evidence.push_back(evidence_of(said.record()));
    value.value = true;
    if (!value.what.empty()) return;
    value.what = fmt::format("NCCL noticed it at and around rank {}", said.message.rank);
  });
  return value;
}

// Did the ranks of a communicator call different things at one place of their sequences?
//
//   call 20: ranks 0-2 AllReduce of 1048576 float32, rank 3 AllReduce of 524288 float32
//       → job.collectives_mismatched = yes, rank 3: three of four agree
//   call 20: rank 0 one thing, rank 1 another
//       → yes, and nobody is named, unless one of them diverges from what it always did there
//
// A line lost in the middle of a log shifts all that follows, and looks like a skipped call. So a
// difference counts if all sequences are equally long, if what follows is not the same but for a
// shift, if NCCL's own numbers go through without a gap, or if something says that the job stopped.
// Else it is only told (job.collectives_differ).

/// More calls than a rank's host can be ahead of a collective that does not end: where ranks made
/// that many more after the difference, the job went on, and lines are missing.
constexpr uint64_t kMostCallsAhead = 4096;

bool went_on(const Job& job, const Communicator& comm) {
  uint64_t shortest = UINT64_MAX;
  for (const CallCamp& camp : comm.difference->camps) {
    for (const int m : camp.members) {
      shortest = std::min(shortest, collectives_of(job, comm.ranks[static_cast<size_t>(m)]));
    }
  }
  return shortest - comm.difference->index > kMostCallsAhead;
}

/// Behind the difference one goes on as another does some calls after it, to the end of one or for a
/// while: it may only lack lines there.
bool may_lack_lines(const Job& job, const Communicator& comm) {
  constexpr uint64_t kMostLost = 64;
  constexpr uint64_t kEnough = 3;  // More lines may be lost behind them.
  const uint64_t index = comm.difference->index;
  const auto lacks = [&](const CallSequence& earlier, const CallSequence& later, uint64_t lost) {
    for (uint64_t at = index; at + lost < earlier.size() && at < later.size(); ++at) {
      const PlacedCall* a = earlier.call(at + lost);
      const PlacedCall* b = later.call(at);
      if (a == nullptr || b == nullptr || at - index >= kEnough) return true;
      if (comparable(a->call) != comparable(b->call)) return false;
    }
    return index + lost < earlier.size() && index < later.size();
  };
  const auto calls_in = [&](const CallCamp& camp) -> const CallSequence& {
    return calls_of(job, comm.ranks[static_cast<size_t>(camp.members.front())])->collectives;
  };
  const CallSequence& usual = calls_in(comm.difference->camps.front());
  return std::ranges::any_of(comm.difference->camps | std::views::drop(1), [&](const auto& camp) {
    const CallSequence& other = calls_in(camp);
    return std::ranges::any_of(std::views::iota(uint64_t{1}, kMostLost + 1), [&](uint64_t lost) {
      return lacks(usual, other, lost) || lacks(other, usual, lost);
    });
  });
}

/// The ranks differ in more ways than at this place, each going on in an order of its own: lines of
/// calls stand in another order than they were printed.
bool is_scattered(const Job& job, const Communicator& comm) {
  std::set<uint64_t> sequences;
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    if (calls != nullptr && calls->total > 0) sequences.insert(calls->collectives.hash());
  }
  return sequences.size() > comm.difference->camps.size();
}

/// Ranks that made the same call at the difference go apart soon behind it: each log lacks lines of
/// its own, or holds some twice or elsewhere.
bool is_camp_scattered(const Job& job, const Communicator& comm) {
  constexpr uint64_t kLooked = 64;
  const uint64_t from = comm.difference->index + 1;
  const auto part = [&](const CallSequence& a, const CallSequence& b) {
    for (uint64_t at = from; at < std::min({a.size(), b.size(), from + kLooked}); ++at) {
      const PlacedCall* one = a.call(at);
      const PlacedCall* other = b.call(at);
      if (one == nullptr || other == nullptr) return false;
      if (comparable(one->call) != comparable(other->call)) return true;
    }
    return false;
  };
  return std::ranges::any_of(comm.difference->camps, [&](const CallCamp& camp) {
    const auto calls_in = [&](int m) -> const CallSequence& {
      return calls_of(job, comm.ranks[static_cast<size_t>(m)])->collectives;
    };
    return std::ranges::any_of(camp.members | std::views::drop(1), [&](int m) {
      return part(calls_in(camp.members.front()), calls_in(m));
    });
  });
}

/// From the difference on, all made the same calls in another order, to their ends.
bool is_reordered(const Job& job, const Communicator& comm) {
  std::optional<std::vector<CallSignature>> usual;
  for (const CallCamp& camp : comm.difference->camps) {
    const CommRank& member = comm.ranks[static_cast<size_t>(camp.members.front())];
    const CallSequence& calls = calls_of(job, member)->collectives;
    std::vector<CallSignature> own;
    for (uint64_t at = comm.difference->index; at < calls.size(); ++at) {
      const PlacedCall* call = calls.call(at);
      if (call == nullptr) return false;
      own.push_back(comparable(call->call));
    }
    std::ranges::sort(own);
    if (usual && *usual != own) return false;
    usual = std::move(own);
  }
  return true;
}

/// No line is missing, by NCCL's numbers or by how all ranks go on, or the job stopped for a reason
/// that a mismatch can give. Where lines are lost elsewhere, they may be lost here.
bool is_certain(const Job& job, const Communicator& comm) {
  if (!comm.inferred && comm.difference->is_numbered) return true;
  if (!comm.gaps.empty() || is_camp_scattered(job, comm)) return false;
  if (equally_long(job, comm)) {
    return stood_still(job) || !(is_scattered(job, comm) || is_reordered(job, comm));
  }
  if (went_on(job, comm)) return false;
  if (stood_still(job)) return true;
  // Without a silence or a limit that somebody waited for, lines may be lost up to the end.
  const auto& evidence = stop_evidence(job);
  const bool failed = evidence && evidence->by == StopBy::Failure;
  return (failed || !comm.inferred) && !may_lack_lines(job, comm);
}

/// By hash, how many of these ranks made so many calls with it first.
using HashVotes = std::map<uint64_t, size_t>;

void add_votes(const Job& job, const Communicator& comm, uint64_t length, HashVotes& votes) {
  for (const CommRank& rank : comm.ranks) {
    const CollectiveCalls* calls = calls_of(job, rank);
    const auto hash = calls == nullptr ? std::nullopt : calls->collectives.prefix_hash(length);
    if (hash) ++votes[*hash];
  }
}

/// By number of ranks and place of a difference in some communicator of so many: the votes of the
/// ranks of all of them.
std::map<std::pair<int, uint64_t>, HashVotes> count_votes(const Job& job) {
  std::map<std::pair<int, uint64_t>, HashVotes> all;
  for (const Communicator& comm : job.communicators) {
    if (comm.difference) all[{comm.nranks, comm.difference->index}];
  }
  for (const Communicator& comm : job.communicators) {
    for (auto of = all.lower_bound({comm.nranks, 0});
         of != all.end() && of->first.first == comm.nranks; ++of) {
      add_votes(job, comm, of->first.second + 1, of->second);
    }
  }
  return all;
}

/// The members of the only camp that no rank of a communicator like this one seconds by exactly that
/// call at that place after the same calls, while the other's call is common there. Tensor-parallel
/// groups, say, all do the same.
std::vector<int> alone_among_alike(const Job& job, const Communicator& comm) {
  const uint64_t length = comm.difference->index + 1;
  HashVotes own;
  add_votes(job, comm, length, own);
  const HashVotes& all = job.answers.of<&count_votes>(job).at({comm.nranks, length - 1});
  std::vector<int> odd;
  size_t seconds = 0;
  for (const CallCamp& camp : comm.difference->camps) {
    const CommRank& member = comm.ranks[static_cast<size_t>(camp.members.front())];
    const auto hash = calls_of(job, member)->collectives.prefix_hash(length);
    const size_t votes = hash ? all.at(*hash) - own.at(*hash) : 0;
    seconds = std::max(seconds, votes);
    if (votes == 0) odd.insert(odd.end(), camp.members.begin(), camp.members.end());
  }
  const bool is_common = seconds >= 2 && odd.size() < static_cast<size_t>(comm.nranks);
  return is_common ? odd : std::vector<int>{};
}

std::vector<Waiter> odd_ones(const Job& job, const Communicator& comm) {
  const std::vector<CallCamp>& camps = comm.difference->camps;
  std::vector<int> odd = outvoted(camps, [&](size_t agree, size_t heard) {
    const bool are_most = comm.nranks > 0 && is_majority(agree, static_cast<size_t>(comm.nranks));
    return are_most || is_clear(agree, heard);
  });
  if (odd.empty()) odd = alone_among_alike(job, comm);
  std::vector<Waiter> result;
  for (const int m : odd) result.push_back(waiter_of(comm.ranks[static_cast<size_t>(m)]));
  if (!result.empty()) return result;
  // What they called behind the difference says nothing about it.
  std::vector<CallerUntil> all;
  for (const CallCamp& camp : camps) {
    for (const int m : camp.members) {
      const CommRank& rank = comm.ranks[static_cast<size_t>(m)];
      const PlacedCall* call = calls_of(job, rank)->collectives.call(comm.difference->index);
      if (call == nullptr) return {};
      all.push_back({waiter_of(rank), call->where});
    }
  }
  return diverged(job, all);
}

/// "call 20 of communicator 0x9c… (4 ranks): ranks 0-2 AllReduce of …, rank 3 … (count differs)".
std::string difference_words(const Job& job, int communicator) {
  const FirstDifference& difference = *nth_communicator(job, communicator).difference;
  const std::string where = communicator_words(job, communicator);
  if (difference.camps.size() < 2) {
    return fmt::format("the ranks of {} differ somewhere in calls {} to {}", where,
                       difference.index + 1, difference.at_most + 1);
  }
  const std::string fields =
      differing_fields(difference.camps.front().call.call, difference.camps.back().call.call);
  const std::string words = camps_words(
      difference.camps, fields,
      [&](const CallCamp& camp) { return members_words(job, communicator, camp.members); },
      [](const PlacedCall& call) { return call_words(call.call); });
  return fmt::format("call {} of {}: {}", difference.index + 1, where, words);
}

/// Communicators whose ranks differ, as one answer: those of which that is certain, with the odd
/// ranks, or the others.
template <bool certain>
FactValue differences(const Job& job, const Instance&) {
  constexpr size_t kMostTold = 3;
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    if (!comm.difference) continue;
    const std::vector<CallCamp>& camps = comm.difference->camps;
    // Of one camp alone the calls of the others there are not told.
    if ((camps.size() > 1 && is_certain(job, comm)) != certain) continue;
    if (phrases.empty()) value.communicator = comm.id;
    value.inferred |= comm.inferred && comm.ranks.front().rank < 0;
    for (const Waiter& waiter : certain ? odd_ones(job, comm) : std::vector<Waiter>()) {
      blame(job, waiter, value);
    }
    for (const CallCamp& camp : camps) {
      if (phrases.size() < kMostTold) value.evidence.push_back({camp.call.where, {}});
    }
    phrases.push_back(difference_words(job, static_cast<int>(c)));
  }
  value.what = (certain ? "ranks diverge at " : "") + few_of(phrases, kMostTold, "; ");
  return phrases.empty() ? unknown() : value;
}

// Whose log lacks lines about calls, or has some twice, where it else tells what all others called?
//
//   rank 3's lines go on behind call 20 as those of the others do behind call 21
//       → job.call_lines_lost = yes, "rank 3 lacks 1 line behind call 20 of communicator 0x9c…"

FactValue call_lines_lost(const Job& job, const Instance&) {
  FactValue value = yes({});
  std::vector<std::string> phrases;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const int communicator = static_cast<int>(c);
    for (const CallGap& gap : job.communicators[c].gaps) {
      if (phrases.empty()) place_in(job, communicator, value);
      const std::string lines = plural(std::abs(gap.lost), "line");
      phrases.push_back(fmt::format("{} {} behind call {} of {}",
                                    members_words(job, communicator, {gap.member}),
                                    gap.lost > 0   ? "lacks " + lines
                                    : gap.lost < 0 ? "has " + lines + " twice"
                                                   : "has calls in another order than the others",
                                    gap.index, communicator_words(job, communicator)));
    }
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  return phrases.empty() ? unknown() : value;
}

// Which messages lack their other end, and who owes it?
//
//   a watchdog gave up; rank 3 received for the 6th time from rank 2, which has sent 5 times
//       → job.messages_unmatched = yes: "rank 2 has no Send to rank 3 that matches Recv number 6 of
//         rank 3"
//
// NCCL takes the messages from one rank to another in their order, so that numbers tell which ones
// meet. A rank that owes a message because it waits for somebody else itself is no news. Named is
// who left the order of ranks like it where its messages went out of step, or who did not do as it
// always had, or else who owes and waits for nobody.

std::string message_words(const Job& job, const UnmatchedMessages& messages) {
  const auto one = [&](int rank) { return members_words(job, messages.communicator, {rank}); };
  const std::string sender = one(messages.sender);
  const std::string receiver = one(messages.receiver);
  if (messages.sizes_differ) {
    return fmt::format(
        "of the {} messages from {} to {}, not all were sent and received in one size",
        messages.sent, sender, receiver);
  }
  if (messages.receiver_owes()) {
    return fmt::format("{} has no Recv from {} that matches Send number {} of {}", receiver, sender,
                       messages.received + 1, sender);
  }
  return fmt::format("{} has no Send to {} that matches Recv number {} of {}", sender, receiver,
                     messages.sent + 1, receiver);
}

/// "rank 2 (…) called AllReduce where it had always called Send to rank 3".
std::string divergence_words(const Job& job, const UnmatchedMessages& messages,
                             const ProgramDivergence& divergence) {
  return fmt::format("{} called {} where it had always called {} {}",
                     waiter_words(job, divergence.waiter), to_valid_utf8(divergence.made.op.view()),
                     messages.receiver_owes() ? "Recv from" : "Send to",
                     members_words(job, messages.communicator, {messages.waiting()}));
}

/// An answer while it is put together.
struct Telling {
  const Job& job;
  FactValue value = yes({});
  std::vector<std::string> phrases;

  void add(const UnmatchedMessages& messages) {
    if (phrases.size() == kMostNamed) return;
    place_in(job, messages.communicator, value);
    for (const int end : {messages.waiting(), messages.owing()}) {
      show_last_call(job, rank_at(job, messages.communicator, end), value);
    }
    phrases.push_back(message_words(job, messages));
  }

  void add(const OutOfStep& messages) {
    const CallLine& line = messages.messages;
    const Communicator& comm = nth_communicator(job, line.communicator);
    value.communicator = comm.id;
    value.inferred |= comm.inferred;
    const auto words_of = [&](int rank) {
      const int member = member_of(job, line.communicator, rank);
      show_last_call(job, rank_at(job, line.communicator, member), value);
      return members_words(job, line.communicator, {member});
    };
    const std::string sender = words_of(line.sender);
    phrases.push_back(fmt::format(
        "when both entered call {} of {}, {} had sent {} messages to {}, which had received {}",
        messages.index + 1, communicator_words(job, messages.collective.communicator), sender,
        messages.sent, words_of(line.receiver), messages.received));
  }

  FactValue end() {
    value.what = join(phrases, "; ");
    return value;
  }
};

/// The only rank whose messages went out of step where it left the order of ranks like it. False if
/// there is none, or several, or if another one left the order of collectives.
bool tell_out_of_step(Telling& telling) {
  const OutOfStep* first = nullptr;
  std::optional<ProgramDivergence> divergence;
  for (const OutOfStep& messages : messages_out_of_step(telling.job)) {
    auto of_sender = divergence_from_twins(telling.job, messages.sender);
    auto of_receiver = divergence_from_twins(telling.job, messages.receiver);
    // Where both did, or none, nothing tells which of them it was.
    if (of_sender.has_value() == of_receiver.has_value()) continue;
    const auto& left = of_sender ? of_sender : of_receiver;
    if (divergence && left->waiter != divergence->waiter) return false;
    if (divergence) continue;
    first = &messages;
    divergence = left;
  }
  const auto is_other = [&](const Waiter& one) { return one != divergence->waiter; };
  if (!divergence || std::ranges::any_of(diverged_from_most(telling.job), is_other)) return false;
  telling.add(*first);
  blame(telling.job, divergence->waiter, telling.value);
  telling.phrases.push_back(twin_words(telling.job, *divergence));
  return true;
}

/// Messages that a rank left out where it had always made them, and by which it holds others up.
bool tell_divergences(const Waits& waits, Telling& telling) {
  std::vector<std::string> who;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    const auto divergence = message_divergence(telling.job, messages);
    if (!divergence || !blocks(waits, divergence->waiter)) continue;
    if (may_wait_for_unknown(telling.job, waits, divergence->waiter)) continue;
    telling.add(messages);
    blame(telling.job, divergence->waiter, telling.value);
    if (who.size() == kMostNamed) continue;
    who.push_back(divergence_words(telling.job, messages, *divergence));
  }
  telling.phrases.insert(telling.phrases.end(), who.begin(), who.end());
  return !who.empty();
}

/// Behind two calls behind which so far the same one stood, the rank made another one lately, and
/// one of these is a collective: what it left out, or made too many, is no message.
bool left_order_of_collectives(const Job& job, const Waiter& waiter) {
  constexpr size_t kLately = 24;
  constexpr size_t kContext = 2;
  const RankProgram* program = program_of(job, waiter);
  if (program == nullptr) return false;
  const std::vector<RankCall>& calls = program->calls;
  const std::vector<int> kinds = kinds_of(*program);
  const size_t first = calls.size() > kLately ? calls.size() - kLately : 0;
  for (size_t at = std::max(first, kContext); at < calls.size(); ++at) {
    const StepPast step = past_of_step(kinds, at, at, kContext, 1);
    if (step.past != Past::Other) continue;
    if (!calls[step.usual].line.is_message() || !calls[at].line.is_message()) return true;
  }
  return false;
}

/// Of those at the ends of messages that lack one, the rank that lacks one of its own to itself, or
/// else that left the order of ranks like it. Where nobody did, all such messages are between two
/// ranks, and nobody else holds the job up, these are what has to be looked at: one of them left a
/// message out, or made one too many.
void name_ends(const Waits& waits, Telling& telling) {
  std::set<Waiter> ends;
  std::set<Waiter> with_themselves;
  for (const Blocker& blocker : waits.blockers) {
    for (const size_t m : blocker.unmatched) {
      const UnmatchedMessages& messages = waits.unmatched[m];
      for (const int end : {messages.sender, messages.receiver}) {
        const Waiter waiter = waiter_at(telling.job, messages.communicator, end);
        ends.insert(waiter);
        if (messages.sender == messages.receiver) with_themselves.insert(waiter);
      }
    }
  }
  if (with_themselves.size() == 1) {
    return blame(telling.job, *with_themselves.begin(), telling.value);
  }
  std::vector<ProgramDivergence> diverged;
  for (const Waiter& end : ends) {
    if (const auto one = divergence_from_twins(telling.job, end)) diverged.push_back(*one);
  }
  if (diverged.size() == 1) {
    telling.phrases.push_back(twin_words(telling.job, diverged.front()));
    return blame(telling.job, diverged.front().waiter, telling.value);
  }
  const auto is_end = [&](const Waiter& waiter) { return ends.contains(waiter); };
  const bool others_hold_up = std::ranges::any_of(waits.blockers, [&](const Blocker& blocker) {
    return std::ranges::none_of(blocker.waiters, is_end);
  });
  const auto diverges = [&](const Waiter& end) {
    return left_order_of_collectives(telling.job, end);
  };
  if (ends.size() > 2 || others_hold_up || std::ranges::any_of(ends, diverges)) return;
  for (const Waiter& end : ends) blame(telling.job, end, telling.value);
}

/// Those who owe messages and wait for nobody; of them those that left the order of collectives, if
/// any did: hosts run ahead, so the others may wait behind these.
std::vector<Blocker> idle_owers(const Job& job, const Waits& waits) {
  std::vector<Blocker> idle = idle_blockers(job, waits);
  std::erase_if(idle, [](const Blocker& blocker) { return blocker.unmatched.empty(); });
  keep_diverged(diverged_from_most(job), idle);
  // So many do not stop of themselves; without a watchdog nobody tells who of them waits.
  if (idle.size() > kMostNamed && timed_out_work(job).empty()) idle.clear();
  return idle;
}

/// Messages owed by those whom nobody else keeps from it.
void tell_blockers(const Waits& waits, Telling& telling) {
  for (const Blocker& blocker : waits.blockers) {
    const bool is_unknown = std::ranges::any_of(blocker.waiters, [&](const Waiter& waiter) {
      return may_wait_for_unknown(telling.job, waits, waiter);
    });
    if (is_unknown) continue;
    for (const size_t m : blocker.unmatched) telling.add(waits.unmatched[m]);
  }
  if (telling.phrases.empty()) return;
  const std::vector<Blocker> idle = idle_owers(telling.job, waits);
  for (const Blocker& blocker : idle) {
    const Waiter& waiter = blocker.waiters.front();
    blame(telling.job, waiter, telling.value);
    telling.phrases.push_back(waiter_words(telling.job, waiter) + " waits for nobody itself");
  }
  if (idle.empty()) name_ends(waits, telling);
}

FactValue messages_unmatched(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  Telling telling{.job = job, .phrases = {}};
  if (tell_out_of_step(telling)) return telling.end();
  const bool told = tell_divergences(waits, telling);
  const std::vector<Blocker> idle = idle_blockers(job, waits);
  // Who seems to owe a message may wait behind one that left the order of collectives.
  if (!told && !idle.empty() && others_diverged(diverged_from_most(job), idle)) return unknown();
  if (!told) tell_blockers(waits, telling);
  return telling.phrases.empty() ? unknown() : telling.end();
}

constexpr std::array kMismatchFacts = {
    // Ranks of a communicator differ in their calls, or lines of their logs are missing.
    comparing_fact("job.collectives_differ", differences<false>),
    // Lines about calls are lost from the log of a rank, or stand there twice; else it called what
    // the others called.
    comparing_fact("job.call_lines_lost", call_lines_lost),
    // Ranks of a communicator called different things at one place of their sequences.
    comparing_fact("job.collectives_mismatched", differences<true>),
    // A check of PyTorch, or of NCCL 2.4 to 2.7, found ranks in different calls.
    job_fact("job.mismatch_noticed", mismatch_noticed),
    // A Send and the Recv that takes it are both there and have different sizes.
    comparing_fact("job.message_sizes_differ", message_sizes_differ),
    // Watchdogs gave up on messages of ranks that wait in a circle for each other.
    comparing_fact("job.messages_in_circle", messages_in_circle),
    // The job stood still, and a Send lacks its Recv, or a Recv its Send.
    comparing_fact("job.messages_unmatched", messages_unmatched),
};

}  // namespace

std::span<const Fact> mismatch_facts() { return kMismatchFacts; }

}  // namespace ncclog
