#include "diagnose/calls/diverged.h"

#include <set>
#include <span>
#include <tuple>

#include "model/ledger/call_ledger.h"

namespace ncclog {
namespace {

/// A collective in a rank's program.
struct RoleStep {
  int kind = -1;  ///< By Kinds.
  int communicator = -1;
  const PlacedCall* placed = nullptr;  ///< Owned by the job.
};

struct RoleProgram {
  Waiter waiter;
  std::vector<RoleStep> steps;
};

/// Numbers calls by what they are to ranks: by what their communicator is, and the comparable call.
using Kinds = std::map<std::tuple<int, int, CallSignature>, int>;

/// Adds the collectives of one communicator that are kept. It is the one with that number of those
/// with `nranks` ranks.
void add_steps(const MemberCalls& own, int nranks, int number, Kinds& kinds,
               std::vector<RoleStep>& steps) {
  const CallSequence& calls = own.calls->collectives;
  for (uint64_t i = calls.kept_from(); i < calls.size(); ++i) {
    const PlacedCall* placed = calls.call(i);
    const auto next = static_cast<int>(kinds.size());
    const auto kind = kinds.try_emplace({nranks, number, comparable(placed->call)}, next).first;
    steps.push_back({kind->second, own.communicator, placed});
  }
}

SourceRef place_of(const RoleStep& step) { return step.placed->where; }

/// The collectives that a rank called last on all of its communicators, in order, as numbers that
/// are equal for equal ones. Where calls of one of them are no longer kept, they begin behind them.
std::vector<int> past_of(const Job& job, const CallerUntil& caller) {
  Kinds kinds;
  std::vector<RoleStep> steps;
  SourceRef from;
  for (const MemberCalls& own : memberships(job, caller.waiter)) {
    if (own.calls == nullptr) continue;
    add_steps(own, -1, own.communicator, kinds, steps);
    const uint64_t first = own.calls->collectives.kept_from();
    if (first > 0) from = std::max(from, own.calls->collectives.call(first)->where);
  }
  std::ranges::stable_sort(steps, {}, place_of);
  std::vector<int> past;
  for (const RoleStep& step : steps) {
    const bool is_after = caller.last.line != 0 && caller.last < place_of(step);
    if (!(place_of(step) < from) && !is_after) past.push_back(step.kind);
  }
  return past;
}

/// The programs of ranks whose collectives are all kept and known, by rank.
std::vector<RoleProgram> role_programs(const Job& job) {
  std::map<Waiter, std::vector<MemberCalls>> members;
  std::set<Waiter> partly_known;
  for (size_t c = 0; c < job.communicators.size(); ++c) {
    const Communicator& comm = job.communicators[c];
    for (const CommRank& rank : comm.ranks) {
      const MemberCalls own{static_cast<int>(c), &rank, calls_of(job, rank)};
      if (own.calls == nullptr) continue;
      // Programs are held against each other from their first call on.
      const bool is_known = call_coverage(job, comm, rank) == CallCoverage::Counted &&
                            own.calls->collectives.kept_from() == 0;
      if (!is_known) partly_known.insert(waiter_of(rank));
      if (own.calls->collectives.size() > 0) members[waiter_of(rank)].push_back(own);
    }
  }
  Kinds kinds;
  std::vector<RoleProgram> programs;
  for (auto& [waiter, of] : members) {
    if (partly_known.contains(waiter)) continue;
    RoleProgram& program = programs.emplace_back(RoleProgram{waiter, {}});
    // The order in which the rank made its communicators.
    std::ranges::sort(
        of, {}, [](const MemberCalls& own) { return std::pair(own.rank->log, own.rank->segment); });
    std::map<int, int> numbers;
    for (const MemberCalls& own : of) {
      const int nranks = nth_communicator(job, own.communicator).nranks;
      add_steps(own, nranks, numbers[nranks]++, kinds, program.steps);
    }
    std::ranges::stable_sort(program.steps, {}, place_of);
  }
  return programs;
}

constexpr size_t kMostAhead = 64;  ///< Calls that a rank may make after it diverged, at most.

using Class = std::vector<const RoleProgram*>;

/// Both made the same two calls, one the other way round.
bool is_swapped(const RoleProgram& a, const RoleProgram& b, size_t at) {
  return a.steps.size() > at + 1 && b.steps.size() > at + 1 &&
         a.steps[at].kind == b.steps[at + 1].kind && a.steps[at + 1].kind == b.steps[at].kind;
}

Divergence divergence(const RoleProgram& odd, const RoleProgram& usual, size_t at, size_t others) {
  const RoleStep& step = odd.steps[at];
  const RoleStep& instead = usual.steps[at];
  return {odd.waiter,           step.communicator, *step.placed,
          instead.communicator, *instead.placed,   others};
}

/// Where ranks that were alike so far part: adds those that diverged there.
void judge_parting(const std::vector<Class>& camps, size_t at, Divergences& result) {
  const Class& many = *std::ranges::max_element(camps, {}, std::ranges::size);
  size_t all = 0;
  for (const Class& camp : camps) all += camp.size();
  const bool is_decided = is_majority(many.size(), all);
  const RoleProgram& usual = *many.front();
  const auto made_before = std::span(usual.steps).first(at);
  const bool is_known = std::ranges::count(made_before, usual.steps[at].kind, &RoleStep::kind) > 0;
  for (const Class& camp : camps) {
    for (const RoleProgram* odd : camp) {
      // Who went on for long after it parted was not stopped by that: it has another role.
      if (&camp == &many || odd->steps.size() - at > kMostAhead) continue;
      const bool swapped = is_swapped(*odd, usual, at);
      if (is_decided) {
        auto& list = swapped || is_known ? result.odd : result.unprecedented;
        list.push_back(divergence(*odd, usual, at, many.size()));
      } else if (swapped && result.undecided.empty()) {
        result.undecided = {divergence(usual, *odd, at, 1), divergence(*odd, usual, at, 1)};
      }
    }
  }
}

/// By place of a program where always a message stood: a place where that one stands.
using Gaps = std::map<size_t, size_t>;

/// A program with what is asked about its past.
struct PastCalls {
  ProgramPlaces places;
  std::vector<int> kinds;       ///< Of its calls.
  std::set<int> communicators;  ///< Of which it is a rank.
  std::map<size_t, Gaps> gaps;  ///< Behind a place, by what stood before it.

  const RankCall& call(size_t at) const { return places.program->calls[at]; }
};

using Pasts = std::map<Waiter, PastCalls>;

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
const Gaps& gaps_behind(PastCalls& past, size_t from) {
  const auto [entry, is_new] = past.gaps.try_emplace(from);
  if (!is_new) return entry->second;
  for (size_t at = std::max(from + 1, kStepContext); at < past.kinds.size(); ++at) {
    const StepPast step = past_of_step(past.kinds, at, from);
    if (step.past != Past::Other) continue;
    const bool was_message = past.call(step.usual).line.is_message();
    if (was_message && followed(past, step.usual, at, from)) entry->second[at] = step.usual;
  }
  return entry->second;
}

/// The last call that stands where the owing side always had one of the messages, which meet in
/// `line`; nullopt: none, or it is not certain where it has a message less.
std::optional<ProgramDivergence> find_divergence(const UnmatchedMessages& messages,
                                                 const CallLine& line, PastCalls& owing,
                                                 PastCalls& waiting) {
  const CallEnd owed{line, messages.receiver_owes()};
  const CallEnd awaited{line, !messages.receiver_owes()};
  const auto made_before = [&](const PastCalls& past, const CallEnd& end, size_t place) {
    const uint64_t all = end.receives ? messages.received : messages.sent;
    return past.places.made_before(end, place).value_or(all);
  };
  // It has one less behind the last collective of both before which they had made as many, and up
  // to its next one on a communicator of both.
  const auto& theirs = waiting.places.collectives;
  std::optional<size_t> to;
  auto met = theirs.end();
  size_t from = owing.kinds.size();
  while (met == theirs.end()) {
    if (from-- == 0) return std::nullopt;
    const RankCall& call = owing.call(from);
    if (call.line.is_message() || !waiting.communicators.contains(call.line.communicator)) continue;
    met = theirs.find({call.line, call.index});
    if (met != theirs.end() &&
        made_before(waiting, awaited, met->second) == made_before(owing, owed, from)) {
      break;
    }
    met = theirs.end();
    to = from;
  }
  if (!to) return std::nullopt;
  // Where the other end left such a message out as well, the past does not hold.
  for (const auto& [at, message] : gaps_behind(waiting, met->second)) {
    if (waiting.call(message).end() == awaited) return std::nullopt;
  }
  std::optional<ProgramDivergence> last;
  for (const auto& [at, message] : gaps_behind(owing, from)) {
    RankCall usual = owing.call(message);
    if (at > *to || usual.end() != owed) continue;
    usual.index = made_before(owing, owed, at);
    last = {owing.places.program->waiter, owing.call(at), usual, {}};
  }
  return last;
}

using MessageDivergences = std::map<UnmatchedMessages, ProgramDivergence>;

MessageDivergences find_message_divergences(const Job& job) {
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
  MessageDivergences result;
  for (const UnmatchedMessages& messages : find_waits(job).unmatched) {
    if (messages.sizes_differ) continue;  // As many on both sides, so that nobody owes one.
    const auto owing = pasts.find(waiter_at(job, messages.communicator, messages.owing()));
    const auto waiting = pasts.find(waiter_at(job, messages.communicator, messages.waiting()));
    if (owing == pasts.end() || waiting == pasts.end()) continue;
    const auto found =
        find_divergence(messages, line_of(job, messages), owing->second, waiting->second);
    if (found) result.emplace(messages, *found);
  }
  return result;
}

/// It begins where the rank began. Where only the last calls of a process are kept, the programs of
/// its ranks begin at different places.
bool is_whole(const RankProgram& program) {
  std::set<CallEnd> seen;
  return std::ranges::all_of(program.calls, [&](const RankCall& call) {
    return !seen.insert(call.end()).second || call.index == 0;
  });
}

/// Calls as ranks of one stage have them in common, as numbers: communicators are counted by their
/// first use.
using CommonCalls = std::span<const int>;

using CommonPrograms = std::vector<std::vector<int>>;  ///< As rank_programs() has them.

CommonPrograms find_common_programs(const Job& job) {
  CommonPrograms all;
  std::map<std::tuple<CallLine, bool, OpName>, int> kinds;
  for (const RankProgram& program : rank_programs(job)) {
    std::vector<int>& calls = all.emplace_back();
    std::map<int, int> numbers;
    for (const RankCall& call : program.calls) {
      CallLine line = call.line;
      const auto next = static_cast<int>(numbers.size());
      line.communicator = numbers.try_emplace(line.communicator, next).first->second;
      const auto kind = static_cast<int>(kinds.size());
      calls.push_back(kinds.try_emplace({line, call.receives, call.op}, kind).first->second);
    }
  }
  return all;
}

/// How many calls both begin with.
size_t alike(CommonCalls a, CommonCalls b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Fewer calls in common may be a start that all ranks share.
constexpr size_t kFewestAlike = 8;

/// Both go on alike until one of them ends, and for long enough.
bool rejoin(CommonCalls a, CommonCalls b) {
  const size_t n = alike(a, b);
  return n >= kFewestAlike && (n == a.size() || n == b.size());
}

std::vector<Waiter> find_odd(const Job& job) {
  const Divergences all = find_divergences(job);
  std::vector<Waiter> odd;
  for (const Divergence& divergence : all.odd) odd.push_back(divergence.waiter);
  return odd;
}

std::vector<Waiter> find_diverged(const Job& job) {
  std::vector<Waiter> diverged;
  if (rank_programs(job).size() > kMostCompared) return diverged;
  for (const RankProgram& program : rank_programs(job)) {
    if (divergence_from_twins(job, program.waiter)) diverged.push_back(program.waiter);
  }
  return diverged;
}

}  // namespace

std::vector<Waiter> diverged(const Job& job, const std::vector<CallerUntil>& callers) {
  std::vector<Waiter> result;
  for (const CallerUntil& caller : callers) {
    const std::optional<bool> diverges = leaves_past(past_of(job, caller));
    if (!diverges) return {};
    if (*diverges) result.push_back(caller.waiter);
  }
  if (!are_few(result.size(), callers.size() - result.size())) return {};
  return result;
}

std::vector<Waiter> diverged(const Job& job, const std::vector<Waiter>& waiters) {
  std::vector<CallerUntil> callers;
  for (const Waiter& waiter : waiters) callers.push_back({waiter, {}});
  return diverged(job, callers);
}

Divergences find_divergences(const Job& job) {
  const std::vector<RoleProgram> programs = role_programs(job);
  Class all;
  for (const RoleProgram& program : programs) all.push_back(&program);
  // All begin in one class; at each place a class falls apart into those that go on alike.
  std::vector<Class> classes = {std::move(all)};
  Divergences result;
  for (size_t at = 0; !classes.empty(); ++at) {
    std::vector<Class> next;
    for (const Class& alike : classes) {
      std::map<int, Class> by_kind;
      for (const RoleProgram* program : alike) {
        if (at < program->steps.size()) by_kind[program->steps[at].kind].push_back(program);
      }
      std::vector<Class> camps;
      for (auto& [kind, camp] : by_kind) camps.push_back(std::move(camp));
      std::ranges::sort(camps);  // By their first programs, which stand in one vector.
      if (camps.size() > 1) judge_parting(camps, at, result);
      std::move(camps.begin(), camps.end(), std::back_inserter(next));
    }
    classes = std::move(next);
  }
  std::ranges::sort(result.odd, {}, &Divergence::waiter);
  return result;
}

const std::vector<Waiter>& diverged_from_most(const Job& job) {
  return job.answers.of<&find_odd>(job);
}

bool others_diverged(const std::vector<Waiter>& diverged, const std::vector<Blocker>& blockers) {
  return !diverged.empty() && std::ranges::none_of(diverged, [&](const Waiter& one) {
    return is_one_of(blockers, one);
  });
}

void keep_diverged(const std::vector<Waiter>& diverged, std::vector<Blocker>& blockers) {
  const std::set<Waiter> kept(diverged.begin(), diverged.end());
  const auto is_unlike_them = [&](const Blocker& blocker) {
    return !kept.contains(blocker.waiters.front());
  };
  if (!std::ranges::all_of(blockers, is_unlike_them)) std::erase_if(blockers, is_unlike_them);
}

std::optional<uint64_t> ProgramPlaces::made_before(const CallEnd& end, size_t place) const {
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
        places.messages[call.end()].push_back(at);
      } else {
        places.collectives[{call.line, call.index}] = at;
      }
    }
  }
  return result;
}

std::optional<ProgramDivergence> message_divergence(const Job& job,
                                                    const UnmatchedMessages& messages) {
  const MessageDivergences& all = job.answers.of<&find_message_divergences>(job);
  const auto found = all.find(messages);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

const std::vector<Waiter>& diverged_from_twins(const Job& job) {
  return job.answers.of<&find_diverged>(job);
}

std::string twin_words(const Job& job, const ProgramDivergence& divergence,
                       std::string_view place) {
  return fmt::format("{} called {}{} where {}, which is at the same place of its groups, called {}",
                     waiter_words(job, divergence.waiter), to_valid_utf8(divergence.made.op.view()),
                     place, waiter_words(job, divergence.twin),
                     to_valid_utf8(divergence.usual.op.view()));
}

bool made_no_more(const Job& job, const Waiter& a, const Waiter& b) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  if (programs.size() > kMostCompared) return false;
  const CommonPrograms& common = job.answers.of<&find_common_programs>(job);
  const RankProgram* own = program_of(job, a);
  const RankProgram* other = program_of(job, b);
  if (own == nullptr || other == nullptr || !is_whole(*own) || !is_whole(*other)) return false;
  const auto& calls = common[static_cast<size_t>(own - programs.data())];
  return alike(calls, common[static_cast<size_t>(other - programs.data())]) == calls.size();
}

std::optional<ProgramDivergence> divergence_from_twins(const Job& job, const Waiter& waiter) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  const CommonPrograms& common = job.answers.of<&find_common_programs>(job);
  const RankProgram* own = program_of(job, waiter);
  if (own == nullptr) return std::nullopt;
  const auto o = static_cast<size_t>(own - programs.data());
  std::optional<size_t> twin;
  size_t most = 0;
  for (size_t p = 0; p < programs.size(); ++p) {
    if (p == o) continue;
    const size_t n = alike(common[o], common[p]);
    const size_t shorter = std::min(common[o].size(), common[p].size());
    // One of the two has only come further.
    if (n == shorter && n >= kFewestAlike) return std::nullopt;
    if (n <= most) continue;
    // They are of one stage if they share half of what is known, or all but one call.
    const bool share_half = n >= std::max(kFewestAlike, shorter / 2);
    // The one call is left out by one of them, and they share all others.
    const CommonCalls mine = common[o];
    const CommonCalls other = common[p];
    const bool differ_by_one =
        n >= kFewestAlike && (rejoin(mine.subspan(n + 1), other.subspan(n)) ||
                              rejoin(mine.subspan(n), other.subspan(n + 1)));
    const bool is_twin = share_half || (differ_by_one && is_whole(*own) && is_whole(programs[p]));
    if (!is_twin) continue;
    most = n;
    twin = p;
  }
  if (!twin) return std::nullopt;
  // Of two that differ, it is the twin that left the order that it had kept itself.
  const bool twin_left = past_at(kinds_of(programs[*twin]), most) == Past::Other;
  if (twin_left && past_at(kinds_of(*own), most) != Past::Other) return std::nullopt;
  return ProgramDivergence{waiter, own->calls[most], programs[*twin].calls[most],
                           programs[*twin].waiter};
}

}  // namespace ncclog
