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

/// When a call is that of the majority: at least `least` ranks made it, which are more than `part`
/// of `whole` of those counted, or exactly as many where that is enough.
struct MajorityRule {
  CallSource source;
  size_t least;
  size_t part;
  size_t whole;
  bool is_equal_enough;
  size_t Ballot::*among;
};

/// One rule of its source is enough.
constexpr MajorityRule kMajorityRules[] = {
    {CallSource::Lines, 1, 1, 2, false, &Ballot::all},
    {CallSource::Lines, 3, 3, 4, true, &Ballot::came},
    {CallSource::Recorder, 1, 1, 2, false, &Ballot::all},
    {CallSource::Watchdog, 2, 2, 3, true, &Ballot::came},
    {CallSource::Check, 2, 1, 2, false, &Ballot::all},
    {CallSource::Programs, 2, 1, 2, false, &Ballot::came},
};

}  // namespace

bool is_majority(CallSource source, const Ballot& ballot) {
  return std::ranges::any_of(kMajorityRules, [&](const MajorityRule& rule) {
    const size_t agree = ballot.agree * rule.whole;
    const size_t wanted = ballot.*rule.among * rule.part;
    return rule.source == source && ballot.agree >= rule.least &&
           (rule.is_equal_enough ? agree >= wanted : agree > wanted);
  });
}

namespace {

/// A call in a rank's program: on which of its communicators, and what.
struct PastStep {
  SourceRef where;
  int communicator = -1;
  CallSignature call;
};

/// The collectives that `waiter` called last on all of its communicators, in order. Where calls of
/// one of them are no longer kept, they begin behind them.
std::vector<PastStep> past_program_of(const Job& job, const CallerUntil& caller) {
  std::vector<PastStep> program;
  SourceRef from;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    for (const CommRank& rank : job.communicators[c].ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (waiter_of(rank) != caller.waiter || calls == nullptr) continue;
      const CallSequence& sequence = calls->collectives;
      for (uint64_t i = sequence.kept_from(); i < sequence.size(); ++i) {
        const PlacedCall* call = sequence.call(i);
        program.push_back({call->where, static_cast<int>(c), comparable(call->call)});
      }
      const uint64_t first = sequence.kept_from();
      if (first > 0) from = std::max(from, sequence.call(first)->where);
    }
  }
  std::erase_if(program, [&](const PastStep& step) {
    return step.where < from || (caller.last.line != 0 && caller.last < step.where);
  });
  std::ranges::stable_sort(program, {}, &PastStep::where);
  return program;
}

/// True if one of the last calls of a rank departs from its own past, false if all of them follow
/// from it; nullopt if there is too little of a past to tell.
std::optional<bool> departs_from_past(const Job& job, const CallerUntil& caller) {
  std::map<std::pair<int, CallSignature>, int> numbers;
  std::vector<int> steps;  // Equal steps have equal numbers.
  for (const PastStep& step : past_program_of(job, caller)) {
    const auto next = static_cast<int>(numbers.size());
    steps.push_back(numbers.try_emplace({step.communicator, step.call}, next).first->second);
  }
  return leaves_past(steps);
}

}  // namespace

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

/// The programs of ranks whose collectives are all kept and known, by rank.
std::vector<RoleProgram> role_programs(const Job& job) {
  // Communicators by log and segment, which is the order in which the rank made them.
  std::map<Waiter, std::map<std::pair<size_t, size_t>, int>> memberships;
  std::set<Waiter> partly_known;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      const CollectiveCalls* calls = calls_of(job, rank);
      if (calls == nullptr) continue;
      // Programs are held against each other from their first call on.
      const bool is_known = call_coverage(job, comm, rank) == CallCoverage::Counted &&
                            calls->collectives.kept_from() == 0;
      if (!is_known) partly_known.insert(waiter_of(rank));
      if (calls->collectives.size() == 0) continue;
      const std::pair place(static_cast<size_t>(rank.log), static_cast<size_t>(rank.segment));
      memberships[waiter_of(rank)][place] = static_cast<int>(c);
    }
  }
  std::vector<RoleProgram> programs;
  for (const auto& [waiter, of] : memberships) {
    if (partly_known.contains(waiter)) continue;
    RoleProgram& program = programs.emplace_back(RoleProgram{waiter, {}});
    std::map<int, int> numbers;
    for (const auto& [place, communicator] : of) {
      const auto& [log, segment] = place;
      const CallSequence& calls = calls_of(job.logs[log].comms.all[segment]).collectives;
      const int nranks = nth_communicator(job, communicator).nranks;
      const CommRole role{nranks, numbers[nranks]++};
      for (uint64_t i = 0; i < calls.size(); ++i) {
        const PlacedCall* placed = calls.call(i);
        program.steps.push_back({role, comparable(placed->call), communicator, placed});
      }
    }
    std::ranges::stable_sort(program.steps, {},
                             [](const RoleStep& step) { return step.placed->where; });
  }
  return programs;
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
  const Class& many = *std::ranges::max_element(camps, {}, std::ranges::size);
  size_t all = 0;
  for (const Class& camp : camps) all += camp.size();
  const bool is_decided = is_majority(CallSource::Programs, {.agree = many.size(), .came = all});
  const RoleProgram& usual = *many.front();
  for (const Class& camp : camps) {
    for (const RoleProgram* odd : camp) {
      // Who went on for long after it parted was not stopped by that: it has another role.
      if (&camp == &many || odd->steps.size() - at > kMostAhead) continue;
      const bool swapped = is_swapped(*odd, usual, at);
      if (is_decided) {
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
    const auto camp = std::ranges::find_if(camps, [&](const Class& other) {
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
  const std::vector<RoleProgram> programs = role_programs(job);
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
  std::ranges::sort(result.odd, {}, &Departure::waiter);
  return result;
}

std::optional<uint64_t> ProgramPlaces::made_before(const MessageEnd& end, size_t place) const {
  const auto known = messages.find(end);
  if (known == messages.end()) return std::nullopt;
  const std::vector<size_t>& places = known->second;
  const auto next = std::ranges::lower_bound(places, place);
  if (next != places.end()) return program->calls[*next].index;
  return program->calls[places.back()].index + 1;
}

std::map<Waiter, ProgramPlaces> program_places(const Job& job) {
  std::map<Waiter, ProgramPlaces> result;
  for (const RankProgram& program : rank_programs(job)) {
    ProgramPlaces& places = result[program.waiter];
    places.program = &program;
    for (size_t at = 0; at < program.calls.size(); ++at) {
      const RankCall& call = program.calls[at];
      if (call.line.is_message()) {
        places.messages[{call.line, call.receives}].push_back(at);
      } else {
        places.collectives[{call.line, call.index}] = at;
      }
    }
  }
  return result;
}

namespace {

/// A place of a program where always a message stood.
struct Gap {
  size_t at = 0;
  size_t message = 0;  ///< A place where it stands.
};

/// A program with what is asked about its past.
struct PastCalls {
  ProgramPlaces places;
  std::vector<int> kinds;                   ///< Of its calls.
  std::set<int> communicators;              ///< Those that the rank is on.
  std::map<size_t, std::vector<Gap>> gaps;  ///< Behind a place, by what stood before it.

  const RankCall& call(size_t at) const { return places.program->calls[at]; }
};

using Pasts = std::map<Waiter, PastCalls>;

Pasts pasts_of(const Job& job) {
  Pasts pasts;
  for (auto& [waiter, places] : program_places(job)) {
    std::vector<int> kinds = kinds_of(*places.program);
    pasts[waiter] = {std::move(places), std::move(kinds), {}, {}};
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
    if (!past.call(next).line.is_message()) return false;
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
    const bool was_message = past.call(step.usual).line.is_message();
    if (was_message && followed(past, step.usual, at, from))
      entry->second.push_back({at, step.usual});
  }
  return entry->second;
}

bool is_message_of(const PastCalls& past, const Gap& gap, const MessageEnd& end) {
  const RankCall& message = past.call(gap.message);
  return message.line == end.line && message.receives == end.receives;
}

/// One side of the messages.
struct Side {
  PastCalls& past;
  MessageEnd end;
  uint64_t made = 0;  ///< How many.

  uint64_t made_before(size_t place) const {
    return past.places.made_before(end, place).value_or(made);
  }
};

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
  std::optional<size_t> next;
  for (size_t at = owing.past.kinds.size(); at-- > 0;) {
    const RankCall& call = owing.past.call(at);
    if (call.line.is_message()) continue;
    if (!waiting.past.communicators.contains(call.line.communicator)) continue;
    const auto& theirs = waiting.past.places.collectives;
    const auto met = theirs.find({call.line, call.index});
    const bool is_equal =
        met != theirs.end() && waiting.made_before(met->second) == owing.made_before(at);
    if (is_equal && !next) return std::nullopt;
    if (is_equal) return Stretch{at, *next, met->second};
    next = at;
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
  if (std::ranges::any_of(theirs, is_theirs)) return std::nullopt;
  const std::vector<Gap>& gaps = gaps_behind(owing.past, stretch->from);
  const auto last = std::find_if(gaps.rbegin(), gaps.rend(), [&](const Gap& gap) {
    return gap.at <= stretch->to && is_message_of(owing.past, gap, owing.end);
  });
  if (last == gaps.rend()) return std::nullopt;
  return MessageDeparture{owing.past.places.program->waiter, owing.past.call(last->at),
                          owing.made_before(last->at)};
}

std::optional<Side> side_of(const Job& job, Pasts& pasts, const CommRank& rank,
                            const MessageEnd& end) {
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
