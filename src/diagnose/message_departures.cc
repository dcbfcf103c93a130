#include "diagnose/message_departures.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "diagnose/step_past.h"

namespace ncclog {
namespace {

const CommRank& rank_at(const Job& job, int communicator, int rank) {
  return job.communicators[static_cast<size_t>(communicator)].ranks[static_cast<size_t>(rank)];
}

const RankProgram* program_of(const Job& job, const Waiter& waiter) {
  const std::vector<RankProgram>& programs = rank_programs(job);
  const auto found = std::find_if(programs.begin(), programs.end(),
                                  [&](const RankProgram& one) { return one.waiter == waiter; });
  return found == programs.end() ? nullptr : &*found;
}

/// One end of a line.
struct End {
  CallLine line;
  bool receives = false;

  bool is(const RankCall& call) const { return call.line == line && call.receives == receives; }
};

/// By each place of a program, how many messages of that end stand before it.
std::vector<uint64_t> counts_before(const RankProgram& program, const End& end, uint64_t made) {
  std::vector<uint64_t> counts(program.calls.size() + 1, made);
  for (size_t at = program.calls.size(); at-- > 0;) {
    counts[at] = end.is(program.calls[at]) ? program.calls[at].index : counts[at + 1];
  }
  return counts;
}

/// One side of the messages.
struct Side {
  const RankProgram& program;
  End end;
  std::vector<uint64_t> counts;  ///< By place in the program.
};

/// Places of a program, behind `from` and up to `to`.
struct Stretch {
  size_t from = 0;
  size_t to = 0;
};

/// Where the owing side's program has a message less than the other side's: between the last
/// collective of both before which they had made as many and the first one after it; nullopt:
/// nowhere for certain.
std::optional<Stretch> stretch_without(const Side& owing, const Side& waiting) {
  std::map<std::pair<CallLine, uint64_t>, uint64_t> theirs;
  const std::vector<RankCall>& other = waiting.program.calls;
  for (size_t at = 0; at < other.size(); ++at) {
    if (!other[at].line.is_message())
      theirs[{other[at].line, other[at].index}] = waiting.counts[at];
  }
  const std::vector<RankCall>& own = owing.program.calls;
  std::optional<size_t> last_equal;
  size_t first_unequal = own.size() - 1;
  for (size_t at = own.size(); at-- > 0 && !last_equal;) {
    const auto met = theirs.find({own[at].line, own[at].index});
    if (own[at].line.is_message() || met == theirs.end()) continue;
    if (met->second == owing.counts[at]) {
      last_equal = at;
    } else {
      first_unequal = at;
    }
  }
  if (!last_equal) return std::nullopt;
  return Stretch{*last_equal, first_unequal};
}

/// The last call of the stretch that stands where the program always had such a message.
std::optional<MessageDeparture> find_departure(const Side& side, const Stretch& stretch) {
  const std::vector<RankCall>& calls = side.program.calls;
  std::vector<int> steps;
  for (const RankCall& call : calls) steps.push_back(call.kind);
  const size_t first = std::max(stretch.from + 1, kStepContext);
  for (size_t at = stretch.to + 1; at-- > first;) {
    const StepPast past = past_of_step(steps, at);
    if (past.past != Past::Other || !side.end.is(calls[past.usual])) continue;
    return MessageDeparture{side.program.waiter, calls[at], side.counts[at]};
  }
  return std::nullopt;
}

std::optional<Side> side_of(const Job& job, const CommRank& rank, const End& end) {
  const RankProgram* program = program_of(job, waiter_of(rank));
  if (program == nullptr || program->calls.empty()) return std::nullopt;
  return Side{*program, end,
              counts_before(*program, end, calls_made(job, rank, end.line, end.receives))};
}

}  // namespace

std::optional<MessageDeparture> message_departure(const Job& job,
                                                  const UnmatchedMessages& messages) {
  if (messages.sizes_differ) return std::nullopt;
  const CommRank& sender = rank_at(job, messages.communicator, messages.sender);
  const CommRank& receiver = rank_at(job, messages.communicator, messages.receiver);
  const CallLine line{messages.communicator, sender.rank, receiver.rank};
  const bool receiver_owes = messages.sent > messages.received;
  const End owed{line, receiver_owes};
  const End made{line, !receiver_owes};
  const auto owing = side_of(job, receiver_owes ? receiver : sender, owed);
  const auto waiting = side_of(job, receiver_owes ? sender : receiver, made);
  if (!owing || !waiting) return std::nullopt;
  const auto stretch = stretch_without(*owing, *waiting);
  return stretch ? find_departure(*owing, *stretch) : std::nullopt;
}

}  // namespace ncclog
