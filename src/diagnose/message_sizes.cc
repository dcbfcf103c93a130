#include "diagnose/message_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/text.h"
#include "diagnose/call_waits.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/message_balance.h"
#include "diagnose/message_counts.h"
#include "log/nccl_names.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

const CommRank& member(const Job& job, int communicator, int index) {
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  return comm.ranks[static_cast<size_t>(index)];
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
  for (const auto& [call, count] : calls->by_signature.counts) {
    if (call.op != (receives ? "Recv" : "Send") || call.root != peer) continue;
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
  for (uint64_t behind = 0; behind < std::min(count, kMostTried); ++behind) {
    if (unlike == difference) return count - 1 - behind;
    unlike *= kSequenceBase;
  }
  return std::nullopt;
}

constexpr uint64_t kLeastPast = 3;  ///< Messages by which both ends have a usual size.

/// As many were sent as received, and one of them in two sizes.
void tell_single(const UnmatchedMessages& pair, const Sizes& sent, const Sizes& received,
                 uint64_t difference, MessageConflict& conflict) {
  const uint64_t unlike = size_key(*conflict.sent) - size_key(*conflict.received);
  conflict.index = place_in(difference, unlike, pair.sent);
  if (pair.sent <= kLeastPast) return;
  if (received.size() == 1 && sent.size() == 2) conflict.changed = pair.sender;
  if (sent.size() == 1 && received.size() == 2) conflict.changed = pair.receiver;
}

/// One end had a size that the other never had, although that one made enough messages.
bool has_stranger(const std::vector<SizeCount>& more, const Sizes& others) {
  return std::any_of(more.begin(), more.end(), [&](const SizeCount& size) {
    return !others.contains(size_key(size.message));
  });
}

/// The one message of an end that made more than the other and always had the other's only size but
/// there.
struct Stranger {
  CallSignature message;
  CallSignature usual;
  uint64_t index = 0;
};

/// nullopt: there is none, or the other end has not come to it.
std::optional<Stranger> met_stranger(const MessageCount& own, const Sizes& sizes,
                                     uint64_t others_made, const Sizes& others) {
  if (!own.sizes || sizes.size() != 2 || others.size() != 1) return std::nullopt;
  const auto& [usual_key, usual] = *others.begin();
  const std::vector<SizeCount> more = surplus(sizes, others);
  const auto odd = std::ranges::find_if(
      more, [&](const SizeCount& size) { return size_key(size.message) != usual_key; });
  if (odd == more.end() || odd->count != 1 || !sizes.contains(usual_key)) return std::nullopt;
  constexpr uint64_t kMostCounted = 10'000'000;
  if (own.count > kMostCounted) return std::nullopt;
  uint64_t all_usual = 0;
  for (uint64_t i = 0; i < own.count; ++i) all_usual = all_usual * kSequenceBase + usual_key;
  const auto place =
      place_in(*own.sizes - all_usual, size_key(odd->message) - usual_key, own.count);
  if (!place || *place >= others_made) return std::nullopt;
  return Stranger{odd->message, usual.message, *place};
}

/// Where one end made more messages and had another size in one that the other end came to.
std::optional<MessageConflict> single_conflict(const UnmatchedMessages& pair,
                                               MessageConflict conflict, const Sizes& sent,
                                               const Sizes& received, const MessageCount& sends,
                                               const MessageCount& receives) {
  const bool sender_changed = sends.count > receives.count;
  const auto stranger = sender_changed ? met_stranger(sends, sent, receives.count, received)
                                       : met_stranger(receives, received, sends.count, sent);
  if (!stranger) return std::nullopt;
  conflict.sent = sender_changed ? stranger->message : stranger->usual;
  conflict.received = sender_changed ? stranger->usual : stranger->message;
  conflict.index = stranger->index;
  if (std::min(sends.count, receives.count) > kLeastPast) {
    conflict.changed = sender_changed ? pair.sender : pair.receiver;
  }
  return conflict;
}

/// At a collective that both ends made, one of these messages was missing: those behind it meet
/// others than they should.
bool is_out_of_step(const Job& job, const UnmatchedMessages& pair) {
  const CallLine line{pair.communicator, member(job, pair.communicator, pair.sender).rank,
                      member(job, pair.communicator, pair.receiver).rank};
  const std::vector<OutOfStep>& all = messages_out_of_step(job);
  return std::ranges::find(all, line, &OutOfStep::messages) != all.end();
}

std::optional<MessageConflict> conflict_of(const Job& job, const UnmatchedMessages& pair) {
  const CommRank& sender = member(job, pair.communicator, pair.sender);
  const CommRank& receiver = member(job, pair.communicator, pair.receiver);
  MessageConflict conflict{
      .communicator = pair.communicator, .sender = pair.sender, .receiver = pair.receiver};
  const auto sent = sizes_of(job, sender, receiver.rank, false);
  const auto received = sizes_of(job, receiver, sender.rank, true);
  if (!sent || !received) return pair.sizes_differ ? std::optional(conflict) : std::nullopt;
  const std::vector<SizeCount> sent_more = surplus(*sent, *received);
  const std::vector<SizeCount> received_more = surplus(*received, *sent);
  const auto own = message_count(job, sender, receiver.rank, false);
  const auto other = message_count(job, receiver, sender.rank, true);
  if (!own || !other) return std::nullopt;
  const bool sent_stranger = has_stranger(sent_more, *received);
  const bool received_stranger = has_stranger(received_more, *sent);
  if (!pair.sizes_differ) {
    const bool all_met = pair.sent < pair.received ? sent_stranger : received_stranger;
    if (!all_met) return single_conflict(pair, conflict, *sent, *received, *own, *other);
  }
  if (!sent_stranger && !received_stranger && is_out_of_step(job, pair)) return std::nullopt;
  if (sent_more.size() == 1) conflict.sent = sent_more.front().message;
  if (received_more.size() == 1) conflict.received = received_more.front().message;
  const bool is_single =
      pair.sizes_differ && conflict.sent && conflict.received && sent_more.front().count == 1;
  if (!is_single) return conflict;
  tell_single(pair, *sent, *received, *own->sizes - *other->sizes, conflict);
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

/// Those of the communicator in which the first ones are.
std::vector<MessageConflict> first_conflicts(const Job& job) {
  std::vector<MessageConflict> conflicts = message_conflicts(job);
  if (conflicts.empty()) return conflicts;
  const int first = conflicts.front().communicator;
  std::erase_if(conflicts, [&](const auto& conflict) { return conflict.communicator != first; });
  return conflicts;
}

/// The last calls of both ends: the lines themselves are looked up later (app/read/read_job.h).
void add_last_calls(const Job& job, const MessageConflict& conflict, FactValue& value) {
  for (const int end : {conflict.sender, conflict.receiver}) {
    const CollectiveCalls* calls = calls_of(job, member(job, conflict.communicator, end));
    const auto is_there = [&](const Evidence& line) { return line.where == calls->last; };
    if (calls == nullptr || std::ranges::any_of(value.evidence, is_there)) continue;
    value.evidence.push_back({calls->last, {}});
  }
}

}  // namespace

const std::vector<MessageConflict>& message_conflicts(const Job& job) {
  return job.answers.of<&find_conflicts>(job);
}

FactValue message_sizes_differ(const Job& job, const Instance&) {
  const std::vector<MessageConflict> conflicts = first_conflicts(job);
  if (conflicts.empty()) return unknown();
  constexpr size_t kMostTold = 4;
  const int communicator = conflicts.front().communicator;
  const Communicator& comm = job.communicators[static_cast<size_t>(communicator)];
  FactValue value = yes({});
  value.communicator = comm.id;
  value.inferred = comm.inferred;
  std::vector<std::string> phrases;
  for (const MessageConflict& conflict : conflicts) {
    if (phrases.size() == kMostTold) break;
    phrases.push_back(conflict_words(job, conflict));
    add_last_calls(job, conflict, value);
  }
  value.what = join(phrases, "; ");
  if (conflicts.size() > kMostTold) {
    value.what += fmt::format("; and {} more pairs", conflicts.size() - kMostTold);
  }
  const int odd = odd_one(conflicts);
  if (odd < 0 && conflicts.size() == 1) {
    // Either end may be wrong: the pair is what has to be looked at.
    for (const int end : {conflicts.front().sender, conflicts.front().receiver}) {
      blame(job, waiter_of(member(job, communicator, end)), value);
    }
  }
  if (odd < 0) return value;
  blame(job, waiter_of(member(job, communicator, odd)), value);
  if (conflicts.size() > 1) {
    value.what +=
        fmt::format("; {} is at one end of all of them", members_words(job, communicator, {odd}));
  }
  return value;
}

}  // namespace ncclog
