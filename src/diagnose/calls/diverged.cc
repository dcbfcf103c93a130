#include "diagnose/calls/diverged.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "diagnose/calls/rank_programs.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

/// A call in a rank's program: on which of its communicators, and what.
struct PastStep {
  SourceRef where;
  int communicator = -1;
  CallSignature call;
};

using PastProgram = std::vector<PastStep>;

/// The collectives of one communicator that are kept.
void add_steps(const Job& job, const CommRank& rank, int communicator, PastProgram& program) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr) return;
  const CallSequence& sequence = calls->collectives;
  for (uint64_t i = sequence.kept_from(); i < sequence.size(); ++i) {
    const PlacedCall* call = sequence.call(i);
    program.push_back({call->where, communicator, comparable(call->call)});
  }
}

/// What `waiter` called last on all of its communicators, in order. Where calls of one of them are
/// no longer kept, it begins behind them.
PastProgram past_program_of(const Job& job, const Waiter& waiter) {
  PastProgram program;
  SourceRef from;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      if (waiter_of(rank) != waiter) continue;
      const size_t before = program.size();
      add_steps(job, rank, static_cast<int>(c), program);
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls != nullptr && calls->collectives.kept_from() > 0) {
        from = std::max(from, program[before].where);
      }
    }
  }
  std::erase_if(program, [&](const PastStep& step) { return step.where < from; });
  std::stable_sort(program.begin(), program.end(),
                   [](const PastStep& a, const PastStep& b) { return a.where < b.where; });
  return program;
}

/// Equal steps get equal numbers.
std::vector<int> numbers_of(const PastProgram& program) {
  std::map<std::pair<int, CallSignature>, int> numbers;
  std::vector<int> result;
  for (const PastStep& step : program) {
    const auto next = static_cast<int>(numbers.size());
    result.push_back(numbers.try_emplace({step.communicator, step.call}, next).first->second);
  }
  return result;
}

}  // namespace

std::optional<bool> departs_from_past(const Job& job, const CallerUntil& caller) {
  PastProgram program = past_program_of(job, caller.waiter);
  if (caller.last.line != 0) {
    std::erase_if(program, [&](const PastStep& step) { return caller.last < step.where; });
  }
  return leaves_past(numbers_of(program));
}

std::vector<Waiter> departed(const Job& job, const std::vector<CallerUntil>& callers) {
  std::vector<Waiter> result;
  for (const CallerUntil& caller : callers) {
    const std::optional<bool> departs = departs_from_past(job, caller);
    if (!departs) return {};
    if (*departs) result.push_back(caller.waiter);
  }
  if (!are_few(result.size(), callers.size() - result.size())) return {};
  return result;
}

std::vector<Waiter> departed(const Job& job, const std::vector<Waiter>& waiters) {
  std::vector<CallerUntil> callers;
  for (const Waiter& waiter : waiters) callers.push_back({waiter, {}});
  return departed(job, callers);
}

namespace {

/// What a communicator is to one of its ranks: its size, and its number among those of this size.
struct CommRole {
  int nranks = -1;
  int number = 0;

  auto operator<=>(const CommRole&) const = default;
};

/// A call in a rank's program.
struct RoleStep {
  CommRole role;
  CallSignature call;  ///< Comparable.
  int communicator = -1;
  const PlacedCall* placed = nullptr;  ///< Owned by the job.

  auto what() const { return std::tie(role, call); }
};

struct RoleProgram {
  Waiter waiter;
  std::vector<RoleStep> steps;
};

/// One communicator of a rank.
struct Membership {
  int communicator = -1;
  int log = -1;
  int segment = -1;
  const CallSequence* calls = nullptr;
};

using Memberships = std::map<Waiter, std::vector<Membership>>;

/// The communicators on which each rank made collectives that are all kept and known.
Memberships memberships_of(const Job& job) {
  Memberships result;
  std::map<Waiter, bool> is_partly_known;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr) continue;
      const Waiter waiter = waiter_of(rank);
      // Programs are held against each other from their first call on.
      const bool is_known = call_coverage(job, comm, rank) == CallCoverage::Counted &&
                            calls->collectives.kept_from() == 0;
      is_partly_known[waiter] |= !is_known;
      if (calls->collectives.size() == 0) continue;
      result[waiter].push_back({static_cast<int>(c), rank.log, rank.segment, &calls->collectives});
    }
  }
  std::erase_if(result, [&](const auto& entry) { return is_partly_known[entry.first]; });
  return result;
}

RoleProgram program_of(const Job& job, const Waiter& waiter, std::vector<Membership> of) {
  std::sort(of.begin(), of.end(), [](const Membership& a, const Membership& b) {
    return std::tie(a.log, a.segment) < std::tie(b.log, b.segment);
  });
  RoleProgram program{waiter, {}};
  std::map<int, int> numbers;
  for (const Membership& member : of) {
    const int nranks = nth_communicator(job, member.communicator).nranks;
    const CommRole role{nranks, numbers[nranks]++};
    for (uint64_t i = 0; i < member.calls->size(); ++i) {
      const PlacedCall* placed = member.calls->call(i);
      program.steps.push_back({role, comparable(placed->call), member.communicator, placed});
    }
  }
  std::stable_sort(
      program.steps.begin(), program.steps.end(),
      [](const RoleStep& a, const RoleStep& b) { return a.placed->where < b.placed->where; });
  return program;
}

constexpr size_t kMostAhead = 64;  ///< Calls that a rank may make after it departed, at most.

using Class = std::vector<const RoleProgram*>;

bool is_same(const RoleStep& a, const RoleStep& b) { return a.what() == b.what(); }

/// The program made that step before.
bool did_before(const RoleProgram& program, size_t at) {
  const auto end = program.steps.begin() + static_cast<long>(at);
  return std::any_of(program.steps.begin(), end,
                     [&](const RoleStep& step) { return is_same(step, *end); });
}

/// Both made the same two calls, one the other way round.
bool is_swapped(const RoleProgram& a, const RoleProgram& b, size_t at) {
  return a.steps.size() > at + 1 && b.steps.size() > at + 1 &&
         is_same(a.steps[at], b.steps[at + 1]) && is_same(a.steps[at + 1], b.steps[at]);
}

Departure departure(const RoleProgram& odd, const RoleProgram& usual, size_t at, size_t others) {
  const RoleStep& step = odd.steps[at];
  const RoleStep& instead = usual.steps[at];
  return {odd.waiter,           step.communicator, *step.placed,
          instead.communicator, *instead.placed,   others};
}

/// Where ranks that were alike so far part: adds those that departed there.
void judge_parting(const std::vector<Class>& camps, size_t at, Departures& result) {
  const auto fewer = [](const Class& a, const Class& b) { return a.size() < b.size(); };
  const Class& many = *std::max_element(camps.begin(), camps.end(), fewer);
  size_t all = 0;
  for (const Class& camp : camps) all += camp.size();
  const bool is_majority = many.size() >= 2 && 2 * many.size() > all;
  const RoleProgram& usual = *many.front();
  for (const Class& camp : camps) {
    for (const RoleProgram* odd : camp) {
      // Who went on for long after it parted was not stopped by that: it has another role.
      if (&camp == &many || odd->steps.size() - at > kMostAhead) continue;
      const bool swapped = is_swapped(*odd, usual, at);
      if (is_majority) {
        const bool is_known = swapped || did_before(usual, at);
        auto& list = is_known ? result.odd : result.unheard_of;
        list.push_back(departure(*odd, usual, at, many.size()));
      } else if (swapped && result.undecided.empty()) {
        result.undecided = {departure(usual, *odd, at, 1), departure(*odd, usual, at, 1)};
      }
    }
  }
}

/// The ranks of one class that have a step `at`, by what it is.
std::vector<Class> camps_at(const Class& alike, size_t at) {
  std::vector<Class> camps;
  for (const RoleProgram* program : alike) {
    if (program->steps.size() <= at) continue;
    const auto camp = std::find_if(camps.begin(), camps.end(), [&](const Class& other) {
      return is_same(other.front()->steps[at], program->steps[at]);
    });
    if (camp == camps.end()) {
      camps.push_back({program});
    } else {
      camp->push_back(program);
    }
  }
  return camps;
}

}  // namespace

Departures find_departures(const Job& job) {
  std::vector<RoleProgram> programs;
  for (auto& [waiter, of] : memberships_of(job)) {
    programs.push_back(program_of(job, waiter, std::move(of)));
  }
  Class all;
  for (const RoleProgram& program : programs) all.push_back(&program);
  // All begin in one class; at each place a class falls apart into those that go on alike.
  std::vector<Class> classes = {std::move(all)};
  Departures result;
  for (size_t at = 0; !classes.empty(); ++at) {
    std::vector<Class> next;
    for (const Class& alike : classes) {
      std::vector<Class> camps = camps_at(alike, at);
      if (camps.size() > 1) judge_parting(camps, at, result);
      std::move(camps.begin(), camps.end(), std::back_inserter(next));
    }
    classes = std::move(next);
  }
  std::sort(result.odd.begin(), result.odd.end(),
            [](const Departure& a, const Departure& b) { return a.waiter < b.waiter; });
  return result;
}

namespace {

/// One end of the messages from a rank to another.
struct End {
  CallLine line;
  bool receives = false;

  auto operator<=>(const End&) const = default;
};

/// A place of a program where always a message stood.
struct Gap {
  size_t at = 0;
  size_t message = 0;  ///< A place where it stands.
};

/// A program, and where in it things stand.
struct PastCalls {
  const RankProgram* program = nullptr;
  std::vector<int> kinds;                     ///< Of its calls.
  std::map<End, std::vector<size_t>> places;  ///< Of messages.
  std::vector<size_t> collectives;
  std::map<std::pair<CallLine, uint64_t>, size_t> place_of;  ///< Of a collective.
  std::set<int> communicators;                               ///< Those that the rank is on.
  std::map<size_t, std::vector<Gap>> gaps;  ///< Behind a place, by what stood before it.
};

PastCalls past_of(const RankProgram& program) {
  PastCalls past{.program = &program};
  for (size_t at = 0; at < program.calls.size(); ++at) {
    const RankCall& call = program.calls[at];
    past.kinds.push_back(call.kind);
    if (call.line.is_message()) {
      past.places[{call.line, call.receives}].push_back(at);
    } else {
      past.collectives.push_back(at);
      past.place_of[{call.line, call.index}] = at;
    }
  }
  return past;
}

using Pasts = std::map<Waiter, PastCalls>;

Pasts pasts_of(const Job& job) {
  Pasts pasts;
  for (const RankProgram& program : rank_programs(job)) {
    pasts.emplace(program.waiter, past_of(program));
  }
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      const auto past = pasts.find(waiter_of(rank));
      if (past != pasts.end()) past->second.communicators.insert(static_cast<int>(c));
    }
  }
  return pasts;
}

/// Behind the message that stood at `usual`, and perhaps others, came what stands at `at`. `end`:
/// of the past.
bool followed(const PastCalls& past, size_t usual, size_t at, size_t end) {
  for (size_t next = usual + 1; next <= end; ++next) {
    if (past.kinds[next] == past.kinds[at]) return true;
    if (!past.program->calls[next].line.is_message()) return false;
  }
  return false;
}

/// All places behind `from` where before `from` always a message stood that is left out now.
const std::vector<Gap>& gaps_behind(PastCalls& past, size_t from) {
  const auto [entry, is_new] = past.gaps.try_emplace(from);
  if (!is_new) return entry->second;
  for (size_t at = std::max(from + 1, kStepContext); at < past.kinds.size(); ++at) {
    const StepPast step = past_of_step(past.kinds, at, from);
    if (step.past != Past::Other) continue;
    const bool was_message = past.program->calls[step.usual].line.is_message();
    if (was_message && followed(past, step.usual, at, from))
      entry->second.push_back({at, step.usual});
  }
  return entry->second;
}

bool is_message_of(const PastCalls& past, const Gap& gap, const End& end) {
  const RankCall& message = past.program->calls[gap.message];
  return message.line == end.line && message.receives == end.receives;
}

/// One side of the messages.
struct Side {
  PastCalls& past;
  End end;
  uint64_t made = 0;  ///< How many.
};

uint64_t made_before(const Side& side, size_t place) {
  const auto found = side.past.places.find(side.end);
  if (found == side.past.places.end()) return side.made;
  const auto next = std::lower_bound(found->second.begin(), found->second.end(), place);
  return next == found->second.end() ? side.made : side.past.program->calls[*next].index;
}

/// Between two collectives.
struct Stretch {
  size_t from = 0;        ///< Where the first one stands in the owing side's program.
  size_t to = 0;          ///< Where the second one stands there.
  size_t other_from = 0;  ///< Where the first one stands in the waiting side's program.
};

/// Where the owing side has a message less: behind the last collective of both before which they
/// had made as many, and up to its next one on a communicator of both; nullopt: nowhere for
/// certain.
std::optional<Stretch> stretch_without(const Side& owing, const Side& waiting) {
  const std::vector<size_t>& places = owing.past.collectives;
  std::optional<size_t> next;
  for (auto at = places.rbegin(); at != places.rend(); ++at) {
    const RankCall& call = owing.past.program->calls[*at];
    if (!waiting.past.communicators.contains(call.line.communicator)) continue;
    const auto met = waiting.past.place_of.find({call.line, call.index});
    const bool is_equal = met != waiting.past.place_of.end() &&
                          made_before(waiting, met->second) == made_before(owing, *at);
    if (is_equal && !next) return std::nullopt;
    if (is_equal) return Stretch{*at, *next, met->second};
    next = *at;
  }
  return std::nullopt;
}

/// The last call of the stretch that stands where the owing side always had such a message.
std::optional<MessageDeparture> find_departure(const Side& owing, const Side& waiting) {
  const auto stretch = stretch_without(owing, waiting);
  if (!stretch) return std::nullopt;
  // Where the other end left such a message out as well, the past does not hold.
  const std::vector<Gap>& theirs = gaps_behind(waiting.past, stretch->other_from);
  const auto is_theirs = [&](const Gap& gap) {
    return is_message_of(waiting.past, gap, waiting.end);
  };
  if (std::any_of(theirs.begin(), theirs.end(), is_theirs)) return std::nullopt;
  const std::vector<Gap>& gaps = gaps_behind(owing.past, stretch->from);
  const auto last = std::find_if(gaps.rbegin(), gaps.rend(), [&](const Gap& gap) {
    return gap.at <= stretch->to && is_message_of(owing.past, gap, owing.end);
  });
  if (last == gaps.rend()) return std::nullopt;
  const RankProgram& program = *owing.past.program;
  return MessageDeparture{program.waiter, program.calls[last->at], made_before(owing, last->at)};
}

std::optional<Side> side_of(const Job& job, Pasts& pasts, const CommRank& rank, const End& end) {
  const auto past = pasts.find(waiter_of(rank));
  if (past == pasts.end()) return std::nullopt;
  return Side{past->second, end, calls_made(job, rank, end.line, end.receives)};
}

std::optional<MessageDeparture> departure_of(const Job& job, Pasts& pasts,
                                             const UnmatchedMessages& messages) {
  if (messages.sizes_differ) return std::nullopt;
  const CommRank& sender = rank_at(job, messages.communicator, messages.sender);
  const CommRank& receiver = rank_at(job, messages.communicator, messages.receiver);
  const CallLine line{messages.communicator, sender.rank, receiver.rank};
  const bool receiver_owes = messages.sent > messages.received;
  const auto sends = side_of(job, pasts, sender, {line, false});
  const auto receives = side_of(job, pasts, receiver, {line, true});
  if (!sends || !receives) return std::nullopt;
  return receiver_owes ? find_departure(*receives, *sends) : find_departure(*sends, *receives);
}

/// Of messages: communicator, sender, receiver.
using Pair = std::tuple<int, int, int>;

Pair pair_of(const UnmatchedMessages& messages) {
  return {messages.communicator, messages.sender, messages.receiver};
}

std::map<Pair, MessageDeparture> departures_of(const Job& job) {
  Pasts pasts = pasts_of(job);
  std::map<Pair, MessageDeparture> result;
  for (const UnmatchedMessages& messages : find_waits(job).unmatched) {
    if (auto departure = departure_of(job, pasts, messages)) {
      result.emplace(pair_of(messages), *departure);
    }
  }
  return result;
}

}  // namespace

std::optional<MessageDeparture> message_departure(const Job& job,
                                                  const UnmatchedMessages& messages) {
  const auto& all = job.answers.of<&departures_of>(job);
  const auto found = all.find(pair_of(messages));
  if (found == all.end()) return std::nullopt;
  return found->second;
}

}  // namespace ncclog
