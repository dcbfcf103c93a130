#include "diagnose/message_departures.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnose/step_past.h"

namespace ncclog {
namespace {

const CommRank& rank_at(const Job& job, int communicator, int rank) {
  return job.communicators[static_cast<size_t>(communicator)].ranks[static_cast<size_t>(rank)];
}

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
