#include "diagnose/calls/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/collectives.h"
#include "base/text.h"
#include "diagnose/calls/diverged.h"
#include "diagnose/calls/who_waits.h"
#include "model/ledger/watchdog_works.h"

namespace ncclog {
namespace {

/// Collectives before which as many messages were sent as received, and not none.
constexpr size_t kFewestMatching = 2;

/// nullopt: at all collectives that both made, they had made as many messages of that line, or
/// not in a way that one message more or less explains.
std::optional<OutOfStep> first_apart(const CallLine& line, const ProgramPlaces& sender,
                                     const ProgramPlaces& receiver) {
  OutOfStep apart{
      .messages = line, .sender = sender.program->waiter, .receiver = receiver.program->waiter};
  bool is_apart = false;
  size_t matching = 0;
  for (size_t at = 0; at < sender.program->calls.size(); ++at) {
    const RankCall& call = sender.program->calls[at];
    if (call.line.is_message()) continue;
    const auto place = receiver.collectives.find({call.line, call.index});
    if (place == receiver.collectives.end()) continue;
    const uint64_t sent = *sender.made_before({line, false}, at);
    const uint64_t received = *receiver.made_before({line, true}, place->second);
    // Unsigned differences are equal if both are as far apart, and the same way round.
    if (is_apart && sent - received != apart.sent - apart.received) return std::nullopt;
    if (is_apart) continue;
    if (sent == received) {
      matching += sent > 0 ? 1 : 0;
      continue;
    }
    if (matching < kFewestMatching) return std::nullopt;
    is_apart = true;
    apart.collective = call.line;
    apart.index = call.index;
    apart.sent = sent;
    apart.received = received;
  }
  return is_apart ? std::optional(apart) : std::nullopt;
}

std::vector<OutOfStep> find_out_of_step(const Job& job) {
  if (rank_programs(job).size() > kMostCompared) return {};
  const std::map<Waiter, ProgramPlaces> programs = program_places(job);
  std::map<CallEnd, const ProgramPlaces*> ends;
  for (const auto& [waiter, program] : programs) {
    for (const auto& [end, places] : program.messages) ends[end] = &program;
  }
  std::vector<OutOfStep> result;
  for (const auto& [end, sender] : ends) {
    const auto receiver = ends.find({end.line, true});
    if (end.receives || receiver == ends.end() || receiver->second == sender) continue;
    if (const auto apart = first_apart(end.line, *sender, *receiver->second)) {
      result.push_back(*apart);
    }
  }
  return result;
}

bool is_one_message(const TimedOutWork& work) {
  // A size of its own on either end is printed since 2.1.
  return traits_of(operation_of(work.op, AliasSource::Watchdog)).is_message() &&
         work.numel_out >= 0;
}

/// A rank of a communicator and the message in which it waits.
struct Stuck {
  const RankProgram* program = nullptr;
  size_t at = 0;  ///< Into its calls.
  const TimedOutWork* work = nullptr;

  const RankCall& message() const { return program->calls[at]; }
};

/// All messages that the rank made on the communicator.
uint64_t messages_made(const CollectiveCalls& calls) {
  uint64_t made = calls.peers.other;
  for (const auto& [peer, totals] : calls.peers.all)
    made += totals.sent.count + totals.received.count;
  return made;
}

/// The message that PyTorch means: it counts those of a group from 1 (since 2.5).
std::optional<size_t> place_of(const RankProgram& program, int communicator, uint64_t made,
                               const TimedOutWork& work) {
  std::vector<size_t> places;
  for (size_t at = 0; at < program.calls.size(); ++at) {
    const CallLine& line = program.calls[at].line;
    if (line.is_message() && line.communicator == communicator) places.push_back(at);
  }
  const uint64_t first = made - std::min<uint64_t>(made, places.size());
  const uint64_t number = static_cast<uint64_t>(work.seq) - 1;
  if (work.seq <= 0 || number < first || number - first >= places.size()) return std::nullopt;
  const size_t at = places[number - first];
  const bool receives = operation_of(work.op, AliasSource::Watchdog) == Operation::Recv;
  return program.calls[at].receives == receives ? std::optional(at) : std::nullopt;
}

/// By rank in the communicator.
std::map<int, Stuck> stuck_in(const Job& job, int communicator,
                              const std::map<int, TimedOutWork>& works) {
  std::map<int, Stuck> stuck;
  for (const CommRank& rank : nth_communicator(job, communicator).ranks) {
    const auto work = works.find(rank.process);
    const CollectiveCalls* calls = calls_of(job, rank);
    if (work == works.end() || calls == nullptr) continue;
    const RankProgram* program = program_of(job, waiter_of(rank));
    if (program == nullptr) continue;
    const auto at = place_of(*program, communicator, messages_made(*calls), work->second);
    if (at) stuck[rank.rank] = {program, *at, &work->second};
  }
  return stuck;
}

/// The peer waits itself before it comes to the other end of the message in which `waiting` waits,
/// or has not come to it.
bool waits_for(const Stuck& waiting, const Stuck& peer) {
  const RankCall& message = waiting.message();
  const std::vector<RankCall>& theirs = peer.program->calls;
  uint64_t made = 0;
  for (size_t at = 0; at < theirs.size(); ++at) {
    if (theirs[at].line != message.line || theirs[at].receives == message.receives) continue;
    if (theirs[at].index == message.index) return at > peer.at;
    made = std::max(made, theirs[at].index + 1);
  }
  // A message that was left out leaves both ends waiting, one for it and one for what is next.
  return made <= message.index && waiting.work->op == peer.work->op;
}

int peer_of(const RankCall& message) {
  return message.receives ? message.line.sender : message.line.receiver;
}

/// The ranks of a circle in the order in which each waits for the next; empty: there is none.
std::vector<int> circle_of(const std::map<int, Stuck>& stuck, bool no_send_lacks) {
  std::map<int, int> awaited;
  for (const auto& [rank, waiting] : stuck) {
    const int peer = peer_of(waiting.message());
    const auto other = stuck.find(peer);
    const bool is_other = peer != rank && other != stuck.end();
    if (is_other && waits_for(waiting, other->second)) awaited[rank] = peer;
  }
  for (const auto& [start, next] : awaited) {
    std::vector<int> circle = {start};
    for (int at = next; at != start; at = awaited.at(at)) {
      if (!awaited.contains(at) || std::ranges::count(circle, at) > 0) break;
      circle.push_back(at);
    }
    // Where all wait in a Recv, a Send may as well have been left out, unless none lacks.
    const bool is_clear = no_send_lacks || std::ranges::any_of(circle, [&](int rank) {
                            return !stuck.at(rank).message().receives;
                          });
    if (awaited.at(circle.back()) == start && is_clear) return circle;
  }
  return {};
}

/// Some rank of the circle is known to have left out a message of that communicator, or made
/// another call than those like it, or than it always did.
bool was_left_out(const Job& job, int communicator, const std::vector<int>& circle,
                  const std::map<int, Stuck>& stuck) {
  std::vector<Waiter> waiters;
  size_t left = 0;
  for (const int rank : circle) {
    const RankProgram& program = *stuck.at(rank).program;
    if (divergence_from_twins(job, program.waiter)) return true;
    if (leaves_past(kinds_of(program)).value_or(false)) ++left;
    waiters.push_back(program.waiter);
  }
  // Where all did, their program changed.
  if ((left > 0 && left < circle.size()) || !diverged(job, waiters).empty()) return true;
  const auto is_here = [&](const OutOfStep& messages) {
    return messages.messages.communicator == communicator;
  };
  if (std::ranges::any_of(messages_out_of_step(job), is_here)) return true;
  return std::ranges::any_of(find_waits(job).unmatched, [&](const UnmatchedMessages& messages) {
    return messages.communicator == communicator && message_divergence(job, messages);
  });
}

std::string circle_words(const Job& job, int communicator, const std::vector<int>& circle,
                         const std::map<int, Stuck>& stuck) {
  const auto name = [&](int rank) {
    return members_words(job, communicator, {member_of(job, communicator, rank)});
  };
  std::vector<std::string> names;
  for (const int rank : circle) names.push_back(name(rank));
  names.push_back(names.front());
  const RankCall& first = stuck.at(circle.front()).message();
  return fmt::format(
      "{} wait in a circle, each for a call that the next one makes only behind its "
      "own: {} waits in its {} number {} {} {}",
      join(names, " → "), names.front(), name_of(message_end(first.receives)), first.index + 1,
      first.receives ? "from" : "to", name(peer_of(first)));
}

/// As the lines of calls show it.
FactValue circle_in_calls(const Job& job) {
  std::map<int, TimedOutWork> works;  // The first message that each process gave up on.
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (work.process >= 0 && is_one_message(work)) works.try_emplace(work.process, work);
  }
  for (size_t c = 0; c < job.communicators.size() && works.size() > 1; ++c) {
    const auto communicator = static_cast<int>(c);
    const std::map<int, Stuck> stuck = stuck_in(job, communicator, works);
    const std::vector<int> circle = circle_of(stuck, unmatched_messages(job, communicator).empty());
    if (circle.empty() || was_left_out(job, communicator, circle, stuck)) continue;
    FactValue value = yes(circle_words(job, communicator, circle, stuck));
    value.communicator = job.communicators[c].id;
    value.inferred = job.communicators[c].inferred;
    for (const int rank : circle) {
      value.evidence.push_back(stuck.at(rank).work->line);
      value.processes.push_back(stuck.at(rank).work->process);
    }
    return value;
  }
  return unknown();
}

/// Every rank gave up on a message, and all on a Send, or all on a Recv.
FactValue circle_of_all(const Job& job) {
  const auto is_part = [&](const Communicator& comm) { return comm.nranks != job.nranks; };
  const bool one_stream =
      !job.communicators.empty() && std::ranges::none_of(job.communicators, is_part);
  if (!one_stream || job.nranks.value_or(0) < 2) return unknown();
  FactValue value = yes({});
  std::set<int> ranks;
  std::set<std::string> ops;
  for (const TimedOutWork& work : timed_out_work(job)) {
    if (!is_one_message(work) || work.rank < 0) return unknown();
    ops.insert(work.op);
    if (!ranks.insert(work.rank).second) continue;
    value.evidence.push_back(work.line);
    if (work.process >= 0) value.processes.push_back(work.process);
  }
  if (ops.size() != 1 || static_cast<int>(ranks.size()) != *job.nranks) return unknown();
  const bool is_send = operation_of(*ops.begin(), AliasSource::Watchdog) == Operation::Send;
  value.what = fmt::format(
      "all {} ranks gave up on a {} and nobody on a {}, so that some wait in a "
      "circle for each other",
      ranks.size(), *ops.begin(), name_of(message_end(is_send), AliasSource::Watchdog));
  return value;
}

/// Equal for messages of equal sizes in bytes.
uint64_t size_key(const CallSignature& message) {
  PeerMessages one;
  one.add(message.count, message.datatype);
  return one.hash;
}

struct SizeCount {
  CallSignature message;
  uint64_t count = 0;
};

/// How often each size came, by size_key.
using Sizes = std::map<uint64_t, SizeCount>;

/// Of the messages with one peer in one direction; nullopt: not all are counted by size.
std::optional<Sizes> sizes_of(const Job& job, const CommRank& rank, int peer, bool receives) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || calls->by_signature.other > 0) return std::nullopt;
  Sizes sizes;
  for (const auto& [call, count] : calls->by_signature.all) {
    if (call.op.operation() != message_end(receives) || call.root != peer) continue;
    SizeCount& entry = sizes[size_key(call)];
    entry.message = call;
    entry.count += count;
  }
  return sizes;
}

/// What came more often in `sizes` than in `others`.
std::vector<SizeCount> surplus(const Sizes& sizes, const Sizes& others) {
  std::vector<SizeCount> more;
  for (const auto& [key, size] : sizes) {
    const auto other = others.find(key);
    const uint64_t known = other == others.end() ? 0 : other->second.count;
    if (size.count > known) more.push_back({size.message, size.count - known});
  }
  return more;
}

/// Where the only message that differs stands: `difference` is that of the hashes, `unlike` that of
/// the two sizes.
std::optional<uint64_t> place_in(uint64_t difference, uint64_t unlike, uint64_t count) {
  constexpr uint64_t kMostTried = 10'000'000;  // A second's work; no log has so many of one pair.
  // Each message behind it multiplied its size by the base once more.
  for (uint64_t behind = 0; behind < std::min(count, kMostTried); ++behind) {
    if (unlike == difference) return count - 1 - behind;
    unlike *= kSequenceBase;
  }
  return std::nullopt;
}

constexpr uint64_t kLeastPast = 3;  ///< Messages by which both ends have a usual size.

/// One end had a size that the other never had, although that one made enough messages.
bool has_stranger(const std::vector<SizeCount>& more, const Sizes& others) {
  return std::ranges::any_of(
      more, [&](const SizeCount& size) { return !others.contains(size_key(size.message)); });
}

/// Where the end that made more messages always had the other's only size but in one message, which
/// the other end came to; else nullopt. `sizes` and `hash` are of the end that made more.
std::optional<MessageConflict> single_conflict(const UnmatchedMessages& pair,
                                               MessageConflict conflict, const Sizes& sizes,
                                               uint64_t hash, const Sizes& others) {
  if (sizes.size() != 2 || others.size() != 1) return std::nullopt;
  const auto& [usual_key, usual] = *others.begin();
  const std::vector<SizeCount> more = surplus(sizes, others);
  const auto odd = std::ranges::find_if(
      more, [&](const SizeCount& size) { return size_key(size.message) != usual_key; });
  if (odd == more.end() || odd->count != 1 || !sizes.contains(usual_key)) return std::nullopt;
  constexpr uint64_t kMostCounted = 10'000'000;
  const auto [least, most] = std::minmax(pair.sent, pair.received);
  if (most > kMostCounted) return std::nullopt;
  // The hash that this end would have if all its messages had the usual size.
  uint64_t all_usual = 0;
  for (uint64_t i = 0; i < most; ++i) all_usual = all_usual * kSequenceBase + usual_key;
  conflict.index = place_in(hash - all_usual, size_key(odd->message) - usual_key, most);
  if (!conflict.index || *conflict.index >= least) return std::nullopt;
  conflict.sent = pair.receiver_owes() ? odd->message : usual.message;
  conflict.received = pair.receiver_owes() ? usual.message : odd->message;
  if (least > kLeastPast) conflict.changed = pair.waiting();
  return conflict;
}

std::optional<MessageConflict> conflict_of(const Job& job, const UnmatchedMessages& pair) {
  const CommRank& sender = rank_at(job, pair.communicator, pair.sender);
  const CommRank& receiver = rank_at(job, pair.communicator, pair.receiver);
  MessageConflict conflict{
      .communicator = pair.communicator, .sender = pair.sender, .receiver = pair.receiver};
  const auto sent = sizes_of(job, sender, receiver.rank, false);
  const auto received = sizes_of(job, receiver, sender.rank, true);
  if (!sent || !received) return pair.sizes_differ ? std::optional(conflict) : std::nullopt;
  const std::vector<SizeCount> sent_more = surplus(*sent, *received);
  const std::vector<SizeCount> received_more = surplus(*received, *sent);
  const bool sent_stranger = has_stranger(sent_more, *received);
  const bool received_stranger = has_stranger(received_more, *sent);
  // Both are known, or the messages would not be among the unmatched ones.
  const auto send_hash = message_sizes(job, sender, receiver.rank, false);
  const auto receive_hash = message_sizes(job, receiver, sender.rank, true);
  if (!pair.sizes_differ && !(pair.receiver_owes() ? received_stranger : sent_stranger)) {
    const auto& hash = pair.receiver_owes() ? send_hash : receive_hash;
    if (!hash) return std::nullopt;
    return pair.receiver_owes() ? single_conflict(pair, conflict, *sent, *hash, *received)
                                : single_conflict(pair, conflict, *received, *hash, *sent);
  }
  // At a collective that both ends made, one of these messages was missing: those behind it meet
  // others than they should.
  const bool is_out_of_step =
      std::ranges::count(messages_out_of_step(job), line_of(job, pair), &OutOfStep::messages) > 0;
  if (!sent_stranger && !received_stranger && is_out_of_step) return std::nullopt;
  if (sent_more.size() == 1) conflict.sent = sent_more.front().message;
  if (received_more.size() == 1) conflict.received = received_more.front().message;
  const bool is_single =
      pair.sizes_differ && conflict.sent && conflict.received && sent_more.front().count == 1;
  if (!is_single) return conflict;
  const uint64_t unlike = size_key(*conflict.sent) - size_key(*conflict.received);
  conflict.index = place_in(*send_hash - *receive_hash, unlike, pair.sent);
  if (pair.sent <= kLeastPast) return conflict;
  if (received->size() == 1 && sent->size() == 2) conflict.changed = pair.sender;
  if (sent->size() == 1 && received->size() == 2) conflict.changed = pair.receiver;
  return conflict;
}

std::vector<MessageConflict> find_conflicts(const Job& job) {
  std::vector<MessageConflict> conflicts;
  for (const UnmatchedMessages& pair : find_waits(job).unmatched) {
    if (const auto conflict = conflict_of(job, pair)) conflicts.push_back(*conflict);
  }
  return conflicts;
}

/// The only rank that all conflicts share, else the only one that changed a size; -1: nobody.
int odd_one(const std::vector<MessageConflict>& conflicts) {
  std::set<int> shared = {conflicts.front().sender, conflicts.front().receiver};
  std::set<int> changed;
  for (const MessageConflict& conflict : conflicts) {
    std::erase_if(shared, [&](int m) { return m != conflict.sender && m != conflict.receiver; });
    changed.insert(conflict.changed);
  }
  if (shared.size() == 1) return *shared.begin();
  return changed.size() == 1 ? *changed.begin() : -1;
}

/// "3145728 bfloat16"; "other sizes" where there are several.
std::string size_words(const std::optional<CallSignature>& message) {
  if (!message) return "other sizes";
  const std::string_view type = datatype_name(message->datatype);
  return type.empty() ? fmt::format("{} elements", message->count)
                      : fmt::format("{} {}", message->count, type);
}

std::string conflict_words(const Job& job, const MessageConflict& conflict) {
  const auto one = [&](int m) { return members_words(job, conflict.communicator, {m}); };
  const std::string sender = one(conflict.sender);
  const std::string receiver = one(conflict.receiver);
  if (!conflict.sent && !conflict.received) {
    return fmt::format("not all messages from {} to {} are sent and received in one size", sender,
                       receiver);
  }
  const std::string place =
      conflict.index ? fmt::format(" (message {} between them)", *conflict.index + 1) : "";
  return fmt::format("{} sends {} to {}, which receives {}{}", sender, size_words(conflict.sent),
                     receiver, size_words(conflict.received), place);
}

}  // namespace

const std::vector<OutOfStep>& messages_out_of_step(const Job& job) {
  return job.answers.of<&find_out_of_step>(job);
}

FactValue messages_in_circle(const Job& job, const Instance&) {
  FactValue circle = circle_in_calls(job);
  if (circle.known()) return circle;
  // Lines of calls say more than watchdogs alone, also where they show no circle.
  const auto made_messages = [&](const CommRank& rank) {
    const CollectiveCalls* calls = calls_of(job, rank);
    return calls != nullptr && messages_made(*calls) > 0;
  };
  for (const Communicator& comm : job.communicators) {
    if (std::ranges::any_of(comm.ranks, made_messages)) return unknown();
  }
  return circle_of_all(job);
}

const std::vector<MessageConflict>& message_conflicts(const Job& job) {
  return job.answers.of<&find_conflicts>(job);
}

void show_last_call(const Job& job, const CommRank& rank, FactValue& value) {
  const CollectiveCalls* calls = calls_of(job, rank);
  if (calls == nullptr || calls->total == 0) return;
  const bool is_there = std::ranges::count(value.evidence, calls->last, &Evidence::where) > 0;
  if (!is_there) value.evidence.push_back({calls->last, {}});
}

FactValue message_sizes_differ(const Job& job, const Instance&) {
  std::vector<MessageConflict> conflicts = message_conflicts(job);
  if (conflicts.empty()) return unknown();
  const int communicator = conflicts.front().communicator;
  std::erase_if(conflicts,
                [&](const auto& conflict) { return conflict.communicator != communicator; });
  const Communicator& comm = nth_communicator(job, communicator);
  const auto blame_end = [&](int end, FactValue& value) {
    blame(job, waiter_at(job, communicator, end), value);
  };
  FactValue value = yes({});
  value.communicator = comm.id;
  value.inferred = comm.inferred;
  std::vector<std::string> phrases;
  for (const MessageConflict& conflict : conflicts) {
    phrases.push_back(conflict_words(job, conflict));
    if (phrases.size() > kMostNamed) continue;
    for (const int end : {conflict.sender, conflict.receiver}) {
      show_last_call(job, rank_at(job, communicator, end), value);
    }
  }
  value.what = few_of(phrases, kMostNamed, "; ");
  const int odd = odd_one(conflicts);
  if (odd < 0 && conflicts.size() == 1) {
    // Either end may be wrong: the pair is what has to be looked at.
    blame_end(conflicts.front().sender, value);
    blame_end(conflicts.front().receiver, value);
  }
  if (odd < 0) return value;
  blame_end(odd, value);
  if (conflicts.size() > 1) {
    value.what +=
        fmt::format("; {} is at one end of all of them", members_words(job, communicator, {odd}));
  }
  return value;
}

}  // namespace ncclog
