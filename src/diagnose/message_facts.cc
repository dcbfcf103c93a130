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

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "diagnose/call_departures.h"
#include "diagnose/call_waits.h"
#include "diagnose/call_words.h"
#include "diagnose/fact_answers.h"
#include "diagnose/fact_tables.h"
#include "diagnose/idle_holdups.h"
#include "diagnose/message_balance.h"
#include "diagnose/message_circles.h"
#include "diagnose/message_departures.h"
#include "diagnose/message_sizes.h"
#include "diagnose/program_twins.h"
#include "diagnose/rank_programs.h"
#include "diagnose/step_past.h"
#include "diagnose/stop_evidence.h"
#include "diagnose/watchdog_records.h"
#include "diagnose/within_runs.h"
#include "model/call_coverage.h"

namespace ncclog {
namespace {

constexpr size_t kMostNamed = 4;

std::string message_words(const Job& job, const UnmatchedMessages& messages) {
  const auto one = [&](int rank) { return members_words(job, messages.communicator, {rank}); };
  const std::string sender = one(messages.sender);
  const std::string receiver = one(messages.receiver);
  if (messages.sizes_differ) {
    return fmt::format(
        "of the {} messages from {} to {}, not all were sent and received in one size",
        messages.sent, sender, receiver);
  }
  if (messages.sent > messages.received) {
    return fmt::format("{} has no Recv from {} that matches Send number {} of {}", receiver, sender,
                       messages.received + 1, sender);
  }
  return fmt::format("{} has no Send to {} that matches Recv number {} of {}", sender, receiver,
                     messages.sent + 1, receiver);
}

/// "rank 2 (…) called AllReduce where it had always called Send to rank 3".
std::string departure_words(const Job& job, const UnmatchedMessages& messages,
                            const MessageDeparture& departure) {
  const bool receiver_owes = messages.sent > messages.received;
  const int peer = receiver_owes ? messages.sender : messages.receiver;
  return fmt::format("{} called {} where it had always called {} {}",
                     waiter_words(job, departure.waiter), to_valid_utf8(departure.made.op.view()),
                     receiver_owes ? "Recv from" : "Send to",
                     members_words(job, messages.communicator, {peer}));
}

/// "rank 2 (…) called AllReduce where rank 5 (…), which is at …, called Send".
std::string departure_words(const Job& job, const Waiter& waiter, const TwinDeparture& departure) {
  return fmt::format("{} called {} where {}, which is at the same place of its groups, called {}",
                     waiter_words(job, waiter), to_valid_utf8(departure.made.op.view()),
                     waiter_words(job, departure.twin), to_valid_utf8(departure.usual.op.view()));
}

/// An answer while it is put together.
struct Telling {
  const Job& job;
  FactValue value = yes({});
  std::vector<std::string> phrases;

  void add(const UnmatchedMessages& messages) {
    if (phrases.size() == kMostNamed) return;
    const Communicator& comm = job.communicators[static_cast<size_t>(messages.communicator)];
    value.communicator = comm.id;
    value.inferred |= comm.inferred && comm.ranks.front().rank < 0;
    const bool receiver_owes = messages.sent > messages.received;
    show_last_call(comm, receiver_owes ? messages.sender : messages.receiver);
    show_last_call(comm, receiver_owes ? messages.receiver : messages.sender);
    phrases.push_back(message_words(job, messages));
  }

  /// What the rank called last, in place of a message that no line shows.
  void show_last_call(const Communicator& comm, int rank) {
    const CollectiveCalls* calls = calls_of(job, comm.ranks[static_cast<size_t>(rank)]);
    if (calls == nullptr || calls->total == 0) return;
    const auto is_last = [&](const Evidence& line) { return line.where == calls->last; };
    if (std::ranges::none_of(value.evidence, is_last)) value.evidence.push_back({calls->last, {}});
  }

  void add(const OutOfStep& messages) {
    const CallLine& line = messages.messages;
    const Communicator& comm = job.communicators[static_cast<size_t>(line.communicator)];
    value.communicator = comm.id;
    value.inferred |= comm.inferred;
    const auto words_of = [&](int rank) {
      const auto member = std::ranges::find(comm.ranks, rank, &CommRank::rank);
      const auto index = static_cast<int>(member - comm.ranks.begin());
      show_last_call(comm, index);
      return members_words(job, line.communicator, {index});
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
  const std::vector<OutOfStepRank> ranks = ranks_out_of_step(telling.job);
  if (ranks.size() != 1) return false;
  const auto& [messages, waiter] = ranks.front();
  const std::vector<Departure> odd = find_departures(telling.job).odd;
  if (std::ranges::any_of(odd, [&](const Departure& one) { return one.waiter != waiter; })) {
    return false;
  }
  const auto departure = departure_from_twins(telling.job, waiter);
  if (!departure) return false;
  telling.add(messages);
  blame(telling.job, waiter, telling.value);
  telling.phrases.push_back(departure_words(telling.job, waiter, *departure));
  return true;
}

/// Messages that a rank left out where it had always made them, and by which it holds others up.
bool tell_departures(const Waits& waits, Telling& telling) {
  std::vector<std::string> who;
  for (const UnmatchedMessages& messages : waits.unmatched) {
    const auto departure = message_departure(telling.job, messages);
    if (!departure || !holds_up(waits, departure->waiter)) continue;
    if (may_wait_for_unknown(telling.job, waits, departure->waiter)) continue;
    telling.add(messages);
    blame(telling.job, departure->waiter, telling.value);
    if (who.size() == kMostNamed) continue;
    who.push_back(departure_words(telling.job, messages, *departure));
  }
  telling.phrases.insert(telling.phrases.end(), who.begin(), who.end());
  return !who.empty();
}

/// Behind two calls behind which so far the same one stood, the rank made another one lately, and
/// one of these is a collective: what it left out, or made too many, is no message.
bool left_order_of_collectives(const Job& job, const Waiter& waiter) {
  constexpr size_t kLately = 24;
  constexpr PastWanted kFew = {.context = 2, .times = 1};
  const RankProgram* program = program_of(job, waiter);
  if (program == nullptr) return false;
  const std::vector<RankCall>& calls = program->calls;
  const std::vector<int> kinds = kinds_of(*program);
  const size_t first = calls.size() > kLately ? calls.size() - kLately : 0;
  for (size_t at = std::max(first, kFew.context); at < calls.size(); ++at) {
    const StepPast step = past_of_step(kinds, at, at, kFew);
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
  for (const Holdup& holdup : waits.holdups) {
    for (const size_t m : holdup.unmatched) {
      const UnmatchedMessages& messages = waits.unmatched[m];
      const auto& ranks =
          telling.job.communicators[static_cast<size_t>(messages.communicator)].ranks;
      if (messages.sender == messages.receiver) {
        with_themselves.insert(waiter_of(ranks[static_cast<size_t>(messages.sender)]));
      }
      for (const int end : {messages.sender, messages.receiver}) {
        ends.insert(waiter_of(ranks[static_cast<size_t>(end)]));
      }
    }
  }
  if (with_themselves.size() == 1) {
    return blame(telling.job, *with_themselves.begin(), telling.value);
  }
  std::vector<std::pair<Waiter, TwinDeparture>> departed;
  for (const Waiter& end : ends) {
    if (const auto departure = departure_from_twins(telling.job, end)) {
      departed.emplace_back(end, *departure);
    }
  }
  if (departed.size() == 1) {
    const auto& [waiter, departure] = departed.front();
    blame(telling.job, waiter, telling.value);
    telling.phrases.push_back(departure_words(telling.job, waiter, departure));
    return;
  }
  const bool others_hold_up = std::ranges::any_of(waits.holdups, [&](const Holdup& holdup) {
    return std::ranges::none_of(holdup.waiters,
                                [&](const auto& one) { return ends.contains(one); });
  });
  if (ends.size() > 2 || others_hold_up) return;
  const auto departs = [&](const Waiter& end) {
    return left_order_of_collectives(telling.job, end);
  };
  if (std::ranges::any_of(ends, departs)) return;
  for (const Waiter& end : ends) blame(telling.job, end, telling.value);
}

bool is_in(const std::vector<Departure>& departures, const Holdup& holdup) {
  return std::any_of(departures.begin(), departures.end(), [&](const Departure& departure) {
    return departure.waiter == holdup.waiters.front();
  });
}

/// Those who owe messages and wait for nobody; of them those that left the order of collectives, if
/// any did: hosts run ahead, so the others may wait behind these.
std::vector<Holdup> idle_owers(const Job& job, const Waits& waits) {
  std::vector<Holdup> idle = idle_holdups(job, waits);
  std::erase_if(idle, [](const Holdup& holdup) { return holdup.unmatched.empty(); });
  const std::vector<Departure> odd = find_departures(job).odd;
  if (std::any_of(idle.begin(), idle.end(), [&](const Holdup& one) { return is_in(odd, one); })) {
    std::erase_if(idle, [&](const Holdup& holdup) { return !is_in(odd, holdup); });
  }
  // So many do not stop of themselves; without a watchdog nobody tells who of them waits.
  if (idle.size() > kMostNamed && timed_out_work(job).empty()) idle.clear();
  return idle;
}

/// Messages owed by those whom nobody else keeps from it.
void tell_holdups(const Waits& waits, Telling& telling) {
  for (const Holdup& holdup : waits.holdups) {
    const bool is_unknown = std::any_of(
        holdup.waiters.begin(), holdup.waiters.end(),
        [&](const Waiter& waiter) { return may_wait_for_unknown(telling.job, waits, waiter); });
    if (is_unknown) continue;
    for (const size_t m : holdup.unmatched) telling.add(waits.unmatched[m]);
  }
  if (telling.phrases.empty()) return;
  const std::vector<Holdup> idle = idle_owers(telling.job, waits);
  for (const Holdup& holdup : idle) {
    const Waiter& waiter = holdup.waiters.front();
    blame(telling.job, waiter, telling.value);
    telling.phrases.push_back(waiter_words(telling.job, waiter) + " waits for nobody itself");
  }
  if (idle.empty()) name_ends(waits, telling);
}

/// Some rank left the order of collectives of those like it, and it is none of those that seem to
/// owe a message: they wait behind it, in a call that all have made.
bool has_departed_elsewhere(const Job& job, const Waits& waits) {
  const std::vector<Holdup> idle = idle_holdups(job, waits);
  const std::vector<Departure> odd = find_departures(job).odd;
  return !idle.empty() && !odd.empty() &&
         std::none_of(idle.begin(), idle.end(), [&](const Holdup& one) { return is_in(odd, one); });
}

FactValue messages_unmatched(const Job& job, const Instance&) {
  if (!stood_still(job) || ranks_contradict_each_other(job)) return unknown();
  const Waits& waits = find_waits(job);
  Telling telling{.job = job, .phrases = {}};
  if (tell_out_of_step(telling)) return telling.end();
  const bool told = tell_departures(waits, telling);
  if (!told && has_departed_elsewhere(job, waits)) return unknown();
  if (!told) tell_holdups(waits, telling);
  return telling.phrases.empty() ? unknown() : telling.end();
}

constexpr std::array kFacts = {
    Fact{"job.message_sizes_differ", Scope::Job, FactType::Bool,
         "A Send and the Recv that takes it are both there and have different sizes.",
         within_runs<message_sizes_differ>},
    Fact{"job.messages_in_circle", Scope::Job, FactType::Bool,
         "Watchdogs gave up on messages of ranks that wait in a circle for each other.",
         within_runs<messages_in_circle>},
    Fact{"job.messages_unmatched", Scope::Job, FactType::Bool,
         "The job stood still, and a Send lacks its Recv, or a Recv its Send.",
         within_runs<messages_unmatched>},
};

}  // namespace

std::span<const Fact> message_facts() { return kFacts; }

}  // namespace ncclog
